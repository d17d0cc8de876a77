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
    is_whole = target.slice.lower is target.slice.upper is target.slice.step is None
    # As many as there are: the bounds may lie outside of the list.
    fix = f"{text(target)} = [{shown}] * len({holder if is_whole else text(target)})"
    return LineAnswer(
        "slice-one", {"x": text(target), "y": shown, "h": holder}, (shown, holder), (("slice-many", fix),)
    )
