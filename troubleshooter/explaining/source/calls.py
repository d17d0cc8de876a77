"""Which call of a line led to the frame below it, and what it passes for a parameter."""

from __future__ import annotations

import ast
from enum import Enum

from troubleshooter.explaining.source.shown import calls
from troubleshooter.explaining.source.sources import Function, holding
from troubleshooter.observe.model import Frame


class Unseen(Enum):
    """What a call says of a parameter that it does not name."""

    NOT_PASSED = 1
    PASSED_ON = 2
    """The call passes on what it was given itself (``*args, **kwargs``)."""


NOT_PASSED, PASSED_ON = Unseen.NOT_PASSED, Unseen.PASSED_ON


def called(
    tree: ast.Module | None, frame: Frame, text: str, marked: str, function: Function, owner: str
) -> ast.Call | None:
    """The call in a frame's line that ran a function. ``owner``: the class, where the function is a special method.

    Where no call bears the name (a wrapper, an alias, a subclass), it is the one that the marks point at, or the only one.
    """
    found = calls_at(tree, frame.line) if tree is not None else calls(text)
    made_by = {id(call.func) for call in found}
    found = [call for call in found if id(call) not in made_by]  # `getattr(x, name)` of `getattr(x, name)(...)`
    names = {function.name, owner}
    special = function.name.startswith("__") or function.name == "forward"
    named = [call for call in found if _name(call.func) in names]
    if named:
        return named[0]
    pointed = calls(marked)
    if tree is None and pointed:
        return pointed[0]
    passing_on = [call for call in found if any(isinstance(part, ast.Starred) for part in call.args)]
    if passing_on:
        return passing_on[0]
    if special:
        made = [call for call in found if _name(call.func)[:1].isupper()]
        if pointed and marked.strip() != text.strip():  # the marks tell which of several
            same = [call for call in made if ast.unparse(call) == ast.unparse(pointed[0])]
            made = same or made
        return (made or found or [None])[0]  # type: ignore[list-item]
    return found[0] if len(found) == 1 else None


def passed(call: ast.Call, name: str, position: int | None) -> ast.expr | Unseen:
    """What a call passes for a parameter. ``position``: its number among the positional ones, None if it has none."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    for keyword in call.keywords:
        if keyword.arg is None and isinstance(keyword.value, ast.Dict):
            for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == name:
                    return value
    starred = next((n for n, part in enumerate(call.args) if isinstance(part, ast.Starred)), None)
    if position is not None and position < (len(call.args) if starred is None else starred):
        return call.args[position]
    if (starred is not None and position is not None) or any(keyword.arg is None for keyword in call.keywords):
        return PASSED_ON
    return NOT_PASSED


def is_unbound(call: ast.Call) -> bool:
    """Whether a call gives a method its object as the first argument: ``Base.run(self, …)``, ``func(dataset, *args)``."""
    first = call.args[0] if call.args else None
    if isinstance(first, ast.Name) and first.id in ("self", "cls"):
        return True
    passes_on = any(isinstance(part, ast.Starred) for part in call.args[1:])
    return passes_on and isinstance(call.func, ast.Name) and not isinstance(first, ast.Starred)


def calls_at(tree: ast.Module, line: int) -> list[ast.Call]:
    """The calls that stand at a line, those that begin there first."""
    found = [
        node
        for statement in holding(tree, line)
        for part in ast.iter_child_nodes(statement)
        if not isinstance(part, (ast.stmt, ast.ExceptHandler, ast.match_case))  # what it holds of these comes by itself
        for node in ast.walk(part)
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return sorted(found, key=lambda call: (call.lineno != line, (call.end_lineno or 0) - call.lineno))


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
