"""Arguments of the user's own call whose value a message shows: they are named, whatever the library's line does with them.

A text counts as shown where the message quotes it, calls it invalid, or has a path that ends with it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.message import advice
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_lines import texts_of
from troubleshooter.explaining.source.shown import called
from troubleshooter.explaining.source.sources import Function
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_ABSENT = lazy.compile(
    r"(?i)\b(?:no such file|unable to find|not found|does(?: not|n't) exist|could(?: not|n't) find|cannot find|can't find|no file)\b"
)
_PATH = lazy.compile(r"[/\\]|\.[a-z]\w{1,10}$")
_NO_FILE = lazy.compile(r"\bNo such file or directory(?: \(os error 2\))?$")
"""What compiled code says of a file without naming it."""
LAST_FRAMES = 4
"""A function of the user's call is looked for in this many frames below it: decorators stand between."""
MOST_NAMED = 3


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that also names what the message shows of the user's own call; the same where it shows nothing."""
    shown = dict(_shown(failure, trace))
    if not shown and found is None and _NO_FILE.search(failure.message) is not None:
        return _only_path(trace, lang)
    if not shown or len(shown) > MOST_NAMED:
        return found
    if found is None:
        name, (value, _) = next(iter(shown.items()))
        found = FoundPlace(None, say("ref-shown", lang, x=value, y=name), [], [], "rule")
    first = [one.name for one in found.origins[:MOST_NAMED]]
    told = [one for one in found.origins if one.name not in shown]
    mine = [
        next((one for one in found.origins if one.name == name), Origin(name, "argument", "", whole, True))
        for name, (_, whole) in shown.items()
    ]
    if not any(name in first for name in shown):
        found.origins = [*mine, *told]
    if found.remedies or len(shown) > 1:
        return found
    [(name, (value, _))] = shown.items()
    is_path = _PATH.search(value) is not None and _ABSENT.search(failure.message) is not None
    key = "do-exists" if is_path else "do-check"
    found.remedies = [Remedy(key, (("x", name),), f"{name}=...", "message")]
    return found


def _only_path(trace: Trace, lang: str) -> FoundPlace | None:
    """The one path that the user's own line passes, where the message names none."""
    paths = []
    for call in trace.own_calls:
        passed = [("", one) for one in call.args] + [(one.arg or "", one.value) for one in call.keywords]
        paths += [(name or text, text) for name, value in passed for text in texts_of(value) if _PATH.search(text)]
    if len(set(paths)) != 1:
        return None
    name, text = paths[0]
    fix = Remedy("do-exists" if name != text else "ref-exists", (("x", name),), None, "rule")
    return FoundPlace(None, say("own-file", lang, x=text), [Origin(name, "data", "", repr(text))], [fix], "rule")


def _shown(failure: Failure, trace: Trace) -> Iterator[tuple[str, tuple[str, str]]]:
    """The names, each with the text that the message shows and with the whole value as source."""
    refused = advice.refused(failure.message)
    for call in trace.own_calls:
        for name, node in named_values(call, trace):
            for value in texts_of(node):
                if value in refused or _is_shown(value, failure.message):
                    yield name, (value, ast.unparse(node))
                    break


def _is_shown(value: str, message: str) -> bool:
    if value not in message or not value.strip():
        return False
    text = re.escape(value)
    if re.search(rf"(?<!\w)['\"`]{text}['\"`](?!\w)", message):
        return True
    is_path = re.search(r"[/\\]|\.\w", value) is not None and len(value) > 3
    return is_path and re.search(rf"(?<![\w.-]){text}(?![\w/-])", message) is not None


def named_values(call: ast.Call, trace: Trace) -> Iterator[tuple[str, ast.expr]]:
    """What a call of the user's passes, by the names of its keywords and, where the source is here, of its parameters."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value
    if call.args:
        found = function_of(call, trace)
        names = parameters(found) if found is not None else []
        yield from zip(names[1:] if names[:1] in (["self"], ["cls"]) else names, call.args, strict=False)


def function_of(call: ast.Call, trace: Trace) -> Function | None:
    """The library's function that a call of the user's led to; None where its source is not here."""
    name = called(call).rpartition(".")[2]
    for at in trace.own:
        for below in range(at + 1, min(at + 1 + LAST_FRAMES, len(trace.frames))):
            function = trace.frames[below].function.rpartition(".")[2]
            if function != name and not (function == "__init__" and name[:1].isupper()):
                continue
            context = trace.context(below)
            if context is not None and context.function is not None:
                is_class = function != "__init__" or (context.owner is not None and context.owner.name == name)
                if context.function.name == function and is_class:
                    return context.function
    return None
