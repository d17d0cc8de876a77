"""A loop that changes what it goes through: a dictionary, a set or a deque that gains or loses items meanwhile."""

from __future__ import annotations

import ast
import re

from troubleshooter.explaining.python.calling import LineAnswer, text
from troubleshooter.explaining.source.shown import gone_through

_WHOLE = ("list", "tuple", "sorted")
"""What takes all items before the loop begins."""


def changed(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """The one thing that the line goes through, and the loop over a copy of its items."""
    loops = [node for node in nodes if isinstance(node, (ast.For, ast.comprehension))]
    rows = [(node, part) for node in loops for part in gone_through(node.iter) if not _is_copy(part)]
    if len({text(part) for _, part in rows}) != 1:
        return None
    loop, holder = rows[0]
    name = text(holder)
    if isinstance(holder, ast.Call):
        if not isinstance(holder.func, ast.Attribute) or holder.args:
            return None
        name = text(holder.func.value)
    if loop.iter is holder:
        made: ast.expr = _list_of(holder)
    elif isinstance(loop.iter, ast.Call) and holder in loop.iter.args:
        made = ast.Call(
            loop.iter.func, [_list_of(one) if one is holder else one for one in loop.iter.args], loop.iter.keywords
        )
    else:
        return LineAnswer("loop-changed", {"x": name}, (name,))
    fix = ast.unparse(ast.For(loop.target, made, [ast.Pass()], [], lineno=0)).partition(":\n")[0]
    return LineAnswer("loop-changed", {"x": name}, (name,), (("loop-copy", fix),))


def _list_of(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("list"), [value], [])


def _is_copy(value: ast.expr) -> bool:
    """Whether a loop over a value cannot be disturbed."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in (*_WHOLE, "range")
    return isinstance(value, (ast.Constant, ast.List, ast.Tuple))
