"""How a tuple came about that is asked for what a tensor has: by a comma at the end of a line, or by ``zip``."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.bindings import binding_of
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"^'tuple' object (?:has no attribute '\w{1,80}'|is not callable|cannot be interpreted)")


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names the comma, or that takes no part of what ``zip`` made; None for another tuple."""
    context = trace.context(len(trace.frames) - 1)
    if context is None or not found.origins or _MESSAGE.match(failure.message) is None:
        return None
    name = found.origins[0].name
    given = binding_of(name, context) if name.isidentifier() else None
    if given is not None and isinstance(given.value, ast.Call) and called(given.value) == "zip":
        found.remedies = [one for one in found.remedies if one.key != "own-first"]  # each part is one of many rows
        return found
    try:
        tree = ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError):
        return None
    last = own_flow.way(tree, context)[-1]
    if not isinstance(last.value, ast.Tuple) or len(last.value.elts) != 1 or last.each:
        return None
    line = last.value.lineno
    text = ast.unparse(last.value.elts[0])
    place = file_line(last.context.source.path, line)
    found.condition = say("tuple-comma", lang, told=found.condition, place=place)
    found.origins = [Origin(name, "data", "", ast.unparse(last.value), True, place=place), *found.origins[1:]]
    found.remedies = [Remedy("tuple-no-comma", (("x", text), ("y", place)), text, "rule")]
    return found
