"""A function of the user's own that a library calls with other arguments than it takes: a reward, a collator, a function of `map`.

Python's message names the function, and the library's line calls it by another name: so it was passed in.
"""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.explaining import own_data
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.names import parameters
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.own_functions import functions_of
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.shown import called, calls, code, marked
from troubleshooter.explaining.sources import Sources
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_FUNCTION = r"^(?:[\w.]{1,120}\.<locals>\.)?(?P<f>\w{1,80}|<lambda>)\(\) "
"""A function on the level of a module or inside of another function; a method is the library's own, more often than not."""
_UNEXPECTED = lazy.compile(_FUNCTION + r"got an unexpected keyword argument '(?P<x>\w{1,80})'")
_MORE = lazy.compile(
    _FUNCTION + r"takes (?P<most>\d{1,3}) positional arguments? but (?P<given>\d{1,3}) (?:was|were) given"
)
_FEWER = lazy.compile(
    _FUNCTION + r"missing \d{1,3} required (?:positional|keyword-only) arguments?: (?P<names>'[^\n]{1,200})"
)


def explain(failure: Failure, sources: Sources, lang: str) -> FoundPlace | None:
    """The explanation; None where the library calls a function of its own, or none at all."""
    frames = failure.frames
    if failure.type != "TypeError" or not frames or is_own(frames[-1]) or not any(map(is_own, frames)):
        return None
    patterns = {"cb-unexpected": _UNEXPECTED, "cb-more": _MORE, "cb-fewer": _FEWER}
    key, found = next(((key, m) for key, one in patterns.items() if (m := one.match(failure.message))), ("", None))
    if found is None:
        return None
    function, told = found["f"], found.groupdict("")
    line = calls(marked(frames[-1])) or calls(code(frames[-1]))
    if not line or function.startswith("__") or any(called(call).rpartition(".")[2] == function for call in line):
        return None
    if not _is_users(function, failure, sources):
        return None
    names = [found["x"]] if key == "cb-unexpected" else re.findall(r"'(\w+)'", told.get("names", ""))
    listed = ", ".join(names)
    values = {"f": function, "x": listed, "most": told.get("most", ""), "given": told.get("given", "")}
    fixes = {
        "cb-unexpected": ("cb-take", f"def {function}(..., **kwargs):"),
        "cb-more": ("cb-take-number", None),
        "cb-fewer": ("cb-default", ", ".join(f"{name}=None" for name in names)),
    }
    word, text = fixes[key]
    columns = _columns(function, names, failure, sources) if key == "cb-fewer" and len(names) == 1 else []
    renamed = (
        [
            Remedy(
                "cb-column",
                (("x", names[0]), ("y", ", ".join(map(repr, columns)))),
                columns[0] if len(columns) == 1 else None,
                "rule",
            )
        ]
        if columns
        else []
    )
    if function == "<lambda>" and key == "cb-unexpected":
        text = "lambda ..., **kwargs: ..."
    return FoundPlace(
        frames[-1], say(key, lang, **values), [Origin(function, "data"), *(Origin(name, "data") for name in names)],
        [*renamed, Remedy(word, (("x", function), ("y", told.get("given", "") or listed)), text, "rule")], "rule",
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
