"""A function of the user's own that takes one row, and is called with a batch: ``map(function, batched=True)``."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.calls import calls_at
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import calls, code, marked, parsed
from troubleshooter.explaining.source.sources import Sources
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_LIST = lazy.compile(
    r"^(?:can only concatenate \w{1,20} \(not \"list\"\) to|can only concatenate list \(not \"\w{1,20}\"\) to"
    r"|'list' object has no attribute '(?:strip|lstrip|rstrip|lower|upper|title|split|splitlines|replace|format|encode|startswith|endswith|find|items|keys|values|get)'"
    r"|unsupported operand type\(s\) for [^\s:]{1,12}: (?:'list' and '(?:int|float|str)'|'(?:int|float|str)' and 'list')"
    r"|'[<>]=?' not supported between instances of (?:'list' and '(?:int|float|str)'|'(?:int|float|str)' and 'list')"
    r"|expected string or bytes-like object|unhashable type: 'list'|list indices must be integers or slices, not str"
    r"|(?:int|float)\(\) argument must be [^\n]{1,80}, not 'list')"
)
"""What Python says of a list that stands in the place of one value."""


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that names ``batched``; the same where the user's own function was not called with a batch."""
    frames = failure.frames
    if found is None or len(frames) < 3 or not is_own(frames[-1]) or is_own(frames[-2]):
        return found
    if failure.type not in ("TypeError", "AttributeError") or _LIST.match(failure.message) is None:
        return found
    function = frames[-1].function
    for frame in frames[-2::-1]:
        if not is_own(frame):
            continue
        source = trace.sources.of(frame)
        whole = calls_at(source.tree, frame.line) if source is not None else calls(code(frame))
        if any(passes_in_batches(call, function) for call in whole) and _asks_column(failure, trace.sources):
            found.condition = say("map-batched", lang, told=found.condition, f=function)
            found.origins = [Origin("batched", "argument", "map", "True", True), *found.origins]
            found.remedies = [Remedy("do-batched", (("x", function),), "batched=False", "rule")]
            return found
        break
    return found


def passes_in_batches(call: ast.Call, function: str) -> bool:
    """Whether a call passes a function, or an object of the class of this name, together with ``batched=True``."""
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    first = call.args[0] if call.args else given.get("function")
    is_it = (
        isinstance(first, ast.Lambda)
        if function == "<lambda>"
        else first is not None and ast.unparse(first.func if isinstance(first, ast.Call) else first) == function
    )
    return is_it and "batched" in given and ast.unparse(given["batched"]) == "True"


def _asks_column(failure: Failure, sources: Sources) -> bool:
    """Whether the failing line asks the function's first argument for a column."""
    frame = failure.frames[-1]
    source = sources.of(frame)
    function = source.around(frame.line)[1] if source is not None else None
    first = parameters(function)[:1] if function is not None else None
    asked = [
        node.value.id
        for text in (marked(frame), code(frame))
        for node in ast.walk(parsed(text) or ast.Module([], []))
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and _is_text(node.slice)
    ]
    return any(first is None or name in first for name in asked)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
