"""One value that was to be put into several places of a list: ``labels[:n] = -100``."""

from __future__ import annotations

import ast
import re

from troubleshooter.explaining.python.calling import LineAnswer, text


def one_value(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """The value, and as many of it as the slice has places."""
    found = [
        (target, node.value)
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
    ]
    if len(found) != 1:
        return None
    target, value = found[0]
    assert isinstance(target.slice, ast.Slice)
    holder, shown = text(target.value), text(value)
    fix = f"{text(target)} = [{shown}] * {_places(target, target.slice)}"
    return LineAnswer(
        "slice-one", {"x": text(target), "y": shown, "h": holder}, (shown, holder), (("slice-many", fix),)
    )


def _places(target: ast.Subscript, part: ast.Slice) -> str:
    """How many places a slice has, as short as its bounds allow."""
    whole = text(target.value)
    if part.step is not None:
        return f"len({text(target)})"
    if part.lower is None and part.upper is None:
        return f"len({whole})"
    if part.lower is None and part.upper is not None and _is_count(part.upper):
        return text(part.upper)
    lower = part.lower if part.upper is None else None
    if isinstance(lower, ast.UnaryOp) and isinstance(lower.op, ast.USub) and _is_count(lower.operand):
        return text(lower.operand)
    return f"len({text(target)})"


def _is_count(bound: ast.expr) -> bool:
    """Whether a bound counts places from the beginning: a length, a name, a number that is not negative."""
    if isinstance(bound, ast.Call):
        return text(bound.func) == "len"
    return isinstance(bound, (ast.Name, ast.Attribute)) or (
        isinstance(bound, ast.Constant) and isinstance(bound.value, int)
    )
