"""A name of the module, or of the function around, that the function makes its own by an assignment: ``best = loss`` without ``global``."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext, given_values, parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.sources import Function
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"local variable '(\w{1,80})'")


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the outer name; None where no scope around the function gives the name a value."""
    said = _MESSAGE.search(failure.message) if failure.type == "UnboundLocalError" else None
    context = trace.context(len(trace.frames) - 1) if said is not None else None
    if said is None or context is None or context.function is None:
        return None
    name = said[1]
    outer = _outer(name, context.function, context)
    if outer is None:
        return None
    word, line = outer
    text = f"{word} {name}"
    place = file_line(context.source.path, line)
    found.condition = say("outer-name", lang, told=found.condition, x=name, place=place, f=context.function.name)
    found.origins = [Origin(name, "data", place=place), *(one for one in found.origins if one.name != name)]
    found.remedies = [Remedy("outer-say", (("x", text),), text, "rule")]
    return found


def _outer(name: str, function: Function, context: NameContext) -> tuple[str, int] | None:
    """The statement that makes the outer name that of the function, and the line that gives it a value."""
    around = [
        node
        for node in ast.walk(context.source.tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and any(part is function for part in ast.walk(node) if part is not node)
    ]
    for node in sorted(around, key=lambda one: -one.lineno):
        if name in parameters(node):
            return "nonlocal", node.lineno
        if given := _mine(name, node, function):
            return "nonlocal", given
    for statement in context.source.tree.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)) and given_values(
            name, ast.Module([statement], []), (statement.end_lineno or statement.lineno) + 1
        ):
            return "global", statement.lineno
    return None


def _mine(name: str, outer: Function, inner: Function) -> int | None:
    """The first line of a function, outside of another one in it, that gives a name a value."""
    lines = [value.lineno for value in given_values(name, outer, (outer.end_lineno or 0) + 1)]
    outside = [line for line in lines if not inner.lineno <= line <= (inner.end_lineno or inner.lineno)]
    return min(outside, default=None)
