"""An index that a loop counts one step too far: ``rows[n + 1]`` with ``n`` in ``range(len(rows))``."""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.bindings import binding_of
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called, nodes_of
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_TOO_FAR = "index out of range"


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the loop's end; None where another loop counts, or where the index is no such sum."""
    context = trace.context(len(trace.frames) - 1)
    if context is None or failure.type != "IndexError" or _TOO_FAR not in failure.message:
        return None
    item = _asked(trace)
    counted = counted_on(item.slice) if item is not None else None
    given = binding_of(counted[0], context) if counted is not None else None
    if item is None or counted is None or given is None or isinstance(given.statement, ast.Assign):
        return None
    name, more = counted
    holder = ast.unparse(item.value)
    loop = given.value if isinstance(given.target, ast.Name) else None
    text = (
        _shorter(loop, holder, more)
        if loop is not None
        else _shorter_count(given.target, given.value, holder, name, more)
    )
    if not text:
        return None
    line = given.value.lineno
    found.condition = say("past-end", lang, told=found.condition, x=name, y=ast.unparse(given.value), line=line)
    found.origins = [Origin(ast.unparse(item.slice), "data"), Origin(holder, "data")]
    found.remedies = [Remedy("past-end-less", (("x", text),), text, "rule"), *found.remedies]
    return found


def _asked(trace: Trace) -> ast.Subscript | None:
    """The one part of the line that asks for an item by a number that is counted."""
    for nodes in nodes_of(trace.frames[-1]):
        found = {
            ast.unparse(node): node
            for node in nodes
            if isinstance(node, ast.Subscript) and counted_on(node.slice) is not None
        }
        if len(found) == 1:
            return next(iter(found.values()))
    return None


def counted_on(node: ast.expr) -> tuple[str, int] | None:
    """The name of an index and what is added to it: ``n, 2`` of ``n + 2``, ``n, 0`` of ``n``; None for another index."""
    if isinstance(node, ast.Name):
        return node.id, 0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and isinstance(node.left, ast.Name):
        more = node.right.value if isinstance(node.right, ast.Constant) else None
        return (node.left.id, more) if isinstance(more, int) and more > 0 else None
    return None


def _shorter(loop: ast.expr, holder: str, more: int) -> str:
    """The same ``range`` up to the last index that is there; "" where it ends in time, or at the end of something else."""
    if not isinstance(loop, ast.Call) or called(loop) != "range" or not 0 < len(loop.args) < 3 or loop.keywords:
        return ""
    *start, end = [ast.unparse(one) for one in loop.args]
    too_far = {f"len({holder})": 0, f"len({holder}) + 1": 1, f"1 + len({holder})": 1}.get(end)
    if too_far is None or too_far + more == 0:
        return ""
    before = f"{start[0]}, " if start and not (start == ["1"] and too_far == 1) else ""  # it was meant to count from 1
    return f"range({before}len({holder}){f' - {more}' if more else ''})"


def _shorter_count(target: ast.expr, loop: ast.expr, holder: str, name: str, more: int) -> str:
    """The same for the number that ``enumerate`` gives."""
    if not isinstance(loop, ast.Call) or called(loop) != "enumerate" or not isinstance(target, ast.Tuple):
        return ""
    is_number = ast.unparse(target.elts[0]) == name and [ast.unparse(one) for one in loop.args] == [holder]
    return f"enumerate({holder}[:-{more}])" if is_number and more and not loop.keywords else ""
