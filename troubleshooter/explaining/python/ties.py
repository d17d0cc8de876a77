"""Things that have no order and are sorted, or put on a heap: tuples are compared part by part, the later parts only if the first are equal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from troubleshooter.explaining.python.calling import LineAnswer, text
from troubleshooter.explaining.source.shown import called

_PUSHES = ("heappush", "heappushpop", "heapreplace")
_SORTS = ("sorted", "min", "max", "nlargest", "nsmallest")


def without_order(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """Two of one type that a call of the line compared; None where the line shows an order (``key=``) or no such call."""
    if m[2] != m[3] or m[1] not in ("<", ">"):
        return None
    for node in nodes:
        if not isinstance(node, ast.Call) or any(one.arg == "key" for one in node.keywords):
            continue
        name = called(node)
        parts = node.args[1] if name in _PUSHES and len(node.args) == 2 else None
        if isinstance(parts, ast.Tuple) and len(parts.elts) > 1:
            fixed = f"({text(parts.elts[0])}, next(counter), {', '.join(text(one) for one in parts.elts[1:])})"
            values = {"x": text(parts), "t": m[2], "y": text(parts.elts[0])}
            return LineAnswer("own-tie", values, (text(parts),), (("own-tie-count", fixed),))
        for several, call in _sorted(node, name):
            return LineAnswer("own-unordered", {"x": several, "t": m[2]}, (several,), (("own-sort-key", call),))
    return None


def _sorted(node: ast.Call, name: str) -> Iterator[tuple[str, str]]:
    """What a call sorts, and the call with a key."""
    by = ast.keyword("key", ast.parse("lambda one: one[...]", mode="eval").body)
    fixed = ast.unparse(ast.Call(node.func, node.args, [*node.keywords, by]))
    of_several = name in ("min", "max") and len(node.args) > 1
    if name in _SORTS and node.args and not of_several and not isinstance(node.args[-1], ast.Starred):
        yield text(node.args[-1]), fixed
    elif name == "sort" and isinstance(node.func, ast.Attribute) and not node.args:
        yield text(node.func.value), fixed
