"""A name that gets its value only where something is better than the best so far, and the first "best" is one that nothing beats.

``best = 0.0`` with ``if loss < best: state = ...`` never gives ``state`` a value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.sources import Function
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"local variable '(\w{1,80})'")
_FIRST = {True: 'float("inf")', False: 'float("-inf")'}
"""The first "best", by whether smaller is better."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the first "best"; None where the name has another way to its value, or the comparison can hold."""
    said = _MESSAGE.search(failure.message) if failure.type == "UnboundLocalError" else None
    context = trace.context(len(trace.frames) - 1) if said is not None else None
    if said is None or context is None or context.function is None:
        return None
    tests = [*_branches_to(said[1], context.function)]
    compared = [one for test in tests if (one := _compared(test, context.function)) is not None]
    if not tests or tests[0] is None or len(compared) != len(tests) or len({one[:2] for one in compared}) != 1:
        return None
    name, line, is_smaller_better = compared[0]
    text = f"{name} = {_FIRST[is_smaller_better]}"
    found.condition = say("first-best", lang, told=found.condition, x=ast.unparse(tests[0]), y=name, line=line)
    found.origins = [Origin(name, "data"), *found.origins]
    found.remedies = [Remedy("first-best-start", (("x", text),), text, "rule"), *found.remedies]
    return found


def _branches_to(name: str, node: ast.AST, test: ast.expr | None = None) -> Iterator[ast.expr | None]:
    """For each place that gives a name its value: the test of the innermost ``if`` around it; None where there is none."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and child.id == name and isinstance(child.ctx, ast.Store):
            yield test
        yield from _branches_to(name, child, node.test if isinstance(node, ast.If) and child in node.body else test)


def _compared(test: ast.expr | None, function: Function) -> tuple[str, int, bool] | None:
    """The "best" of a comparison that cannot hold at first: its name, the line that sets it, whether smaller is better."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, operator, right = test.left, test.ops[0], test.comparators[0]
    if isinstance(operator, (ast.Gt, ast.GtE)):
        left, right = right, left
    elif not isinstance(operator, (ast.Lt, ast.LtE)):
        return None
    for side, is_smaller_better in ((right, True), (left, False)):  # now it says: left is smaller than right
        first = _first_value(side.id, function) if isinstance(side, ast.Name) else None
        if first is not None and (first[0] <= 0 if is_smaller_better else first[0] >= 1):
            assert isinstance(side, ast.Name)
            return side.id, first[1], is_smaller_better
    return None


def _first_value(name: str, function: Function) -> tuple[float, int] | None:
    """The number that a name is given first, outside of any branch or loop, and its line."""
    for statement in function.body:
        if isinstance(statement, ast.Assign) and any(ast.unparse(one) == name for one in statement.targets):
            try:
                value = ast.literal_eval(statement.value)
            except ValueError:
                return _infinite(ast.unparse(statement.value), statement.lineno)
            return (float(value), statement.lineno) if isinstance(value, (int, float)) else None
    return None


def _infinite(written: str, line: int) -> tuple[float, int] | None:
    values = {"float('inf')": float("inf"), "float('-inf')": float("-inf"), "-float('inf')": float("-inf")}
    values |= {"math.inf": float("inf"), "-math.inf": float("-inf"), "np.inf": float("inf"), "-np.inf": float("-inf")}
    return (values[written], line) if written in values else None
