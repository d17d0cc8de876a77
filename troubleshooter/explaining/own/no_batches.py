"""A counter of a loop over a loader that stayed 0: the loader leaves out its only, incomplete batch."""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import gone_through
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the loader's ``drop_last``; None where the divisor counts no loop, or no loader leaves anything out."""
    context = trace.context(len(trace.frames) - 1) if failure.type == "ZeroDivisionError" else None
    if context is None or len(found.origins) != 1:
        return None
    name = found.origins[0].name
    loops = [
        node
        for node in ast.walk(context.function or context.source.tree)
        if isinstance(node, ast.For) and any(_counts(part, name) for part in ast.walk(node))
    ]
    given = [
        (file_line(source.path, word.value.lineno), ast.unparse(word.value))
        for source in trace.own_sources
        for call in ast.walk(source.tree)
        if isinstance(call, ast.Call)
        for word in call.keywords
        if word.arg == "drop_last" and ast.unparse(word.value) != "False"
    ]
    if len(loops) != 1 or len(given) != 1:
        return None
    rows = ast.unparse(next(iter(gone_through(loops[0].iter)), loops[0].iter))
    [(place, value)] = given
    found.condition = say("no-batches", lang, told=found.condition, x=rows, place=place)
    found.origins = [Origin("drop_last", "argument", "", value, True, place=place), *found.origins]
    found.remedies = [Remedy("batches-keep", (("x", rows),), "drop_last=False", "rule"), *found.remedies]
    return found


def _counts(node: ast.AST, name: str) -> bool:
    """Whether a statement adds to the counter."""
    return isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and ast.unparse(node.target) == name
