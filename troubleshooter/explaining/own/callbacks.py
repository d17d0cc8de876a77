"""A function of the user's own that a library calls with other arguments than it takes: a reward, a collator, a function of `map`.

Python's message names the function, and the library's line calls it by another name: so it was passed in.
"""

from __future__ import annotations

import re

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.python import wrong_calls
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_data
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.own_functions import functions_of
from troubleshooter.explaining.source.shown import called, calls, code, marked
from troubleshooter.explaining.source.sources import Sources
from troubleshooter.observe.model import Failure

_MESSAGES = wrong_calls.patterns(r"^(?:[\w.]{1,120}\.<locals>\.)?(?P<f>\w{1,80}|<lambda>)\(\) ")
"""Of a function on the level of a module or inside of another function; `own_methods` asks for methods."""


def explain(failure: Failure, sources: Sources, lang: str) -> FoundPlace | None:
    """The explanation; None where the library calls a function of its own, or none at all."""
    frames = failure.frames
    if failure.type != "TypeError" or not frames or is_own(frames[-1]) or not any(map(is_own, frames)):
        return None
    wrong = wrong_calls.read(failure.message, _MESSAGES)
    if wrong is None:
        return None
    function = wrong.found["f"]
    line = calls(marked(frames[-1])) or calls(code(frames[-1]))
    if not line or function.startswith("__") or any(called(call).rpartition(".")[2] == function for call in line):
        return None
    if not _is_users(function, failure, sources):
        return None
    names, fixes = wrong.names, []
    if wrong.key == wrong_calls.FEWER and len(names) == 1 and (columns := _columns(function, names, failure, sources)):
        listed = ", ".join(map(repr, columns))
        fixes = [
            Remedy("cb-column", (("x", names[0]), ("y", listed)), columns[0] if len(columns) == 1 else None, "rule")
        ]
    definition = "lambda ..., **kwargs: ..." if function == "<lambda>" else f"def {function}(..., **kwargs):"
    return FoundPlace(
        frames[-1], wrong.condition(function, lang), [Origin(function, "data"), *wrong.arguments],
        [*fixes, wrong.remedy(function, definition)], "rule",
    )  # fmt: skip


def _columns(function: str, missing: list[str], failure: Failure, sources: Sources) -> list[str]:
    """The columns of the user's data that none of the function's parameters is called by; empty where one is called as what is missing."""
    files = [one for frame in failure.frames if is_own(frame) and (one := sources.of(frame)) is not None]
    taken = [
        name for one in files for own in functions_of(one) if own.name == function for name in parameters(own.function)
    ]
    columns = own_data.columns(dict.fromkeys(files))
    return [one for one in columns if one not in taken] if taken and missing[0] not in columns else []


def _is_users(function: str, failure: Failure, sources: Sources) -> bool:
    """Whether a function is the user's: their lines name it, it has no name, or the library's files, which are here, do not."""
    named = re.compile(rf"(?<![\w.]){re.escape(function.strip('<>'))}(?!\w)")
    if any(named.search(code(frame)) for frame in failure.frames if is_own(frame)):
        return True
    files = [sources.of(frame) for frame in failure.frames if not is_own(frame)]
    return files[-1] is not None and not any(one is not None and named.search(one.text) for one in files)
