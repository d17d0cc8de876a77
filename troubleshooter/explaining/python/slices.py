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
    """How many places a slice has: so many as there are, for its bounds may lie outside of the list."""
    whole = text(target.value)
    if part.step is None and part.lower is None and part.upper is None:
        return f"len({whole})"
    return f"len({text(target)})"
