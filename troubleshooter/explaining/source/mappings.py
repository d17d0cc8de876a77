"""What a library's own dictionary holds under a name, where it is passed on as ``**mapping``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from troubleshooter.explaining.source.names import NameContext, last_value, parameters
from troubleshooter.explaining.source.sources import Function

MAX_STEPS = 3
"""Names and functions that are followed to where a dictionary is written out."""


def entry(
    mapping: ast.expr, key: str, context: NameContext, left: int = MAX_STEPS
) -> tuple[ast.expr, NameContext] | None:
    """The value that a dictionary has under a key, and where that is written; None where the source does not show it."""
    if left <= 0:
        return None
    if isinstance(mapping, ast.Dict) or (isinstance(mapping, ast.Call) and ast.unparse(mapping.func) == "dict"):
        found = _last(mapping, key)
        if found is None and isinstance(mapping, ast.Dict):
            rest = [value for name, value in zip(mapping.keys, mapping.values, strict=True) if name is None]
            return next((one for value in rest if (one := entry(value, key, context, left - 1)) is not None), None)
        return (found, context) if found is not None else None
    if isinstance(mapping, ast.Call):
        return _returned(mapping, key, context)
    if not isinstance(mapping, ast.Name) or context.function is None or mapping.id in parameters(context.function):
        return None
    if (set_later := _set_in(context.function, mapping.id, key, context.line)) is not None:
        return set_later, context._replace(line=set_later.lineno)
    value = last_value(mapping.id, context.function, context.line, whole=True)
    return entry(value, key, context._replace(line=value.lineno), left - 1) if value is not None else None


def mapping_of(call: ast.Call) -> ast.expr | None:
    """``x`` of the only ``**x`` of a call."""
    found = [keyword.value for keyword in call.keywords if keyword.arg is None]
    return found[0] if len(found) == 1 else None


def _last(node: ast.AST, key: str) -> ast.expr | None:
    found = [value for name, value in _written(node) if name == key]
    return found[-1] if found else None


def _written(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The named entries of the dictionaries that an expression or a function writes out."""
    for part in ast.walk(node):
        if isinstance(part, ast.expr):
            yield from ((name, value) for name, value, _ in named_entries(part))


def named_entries(node: ast.expr) -> Iterator[tuple[str, ast.expr, int]]:
    """The named entries of ``{"name": value}`` and ``dict(name=value)``, each with its line."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value, key.lineno
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "dict":
        for keyword in node.keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword.value, keyword.value.lineno


def _set_in(function: Function, mapping: str, key: str, line: int) -> ast.expr | None:
    """``value`` of the last ``mapping["key"] = value`` above a line."""
    best: ast.expr | None = None
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or node.lineno >= line:
            continue
        for target in node.targets:
            is_item = isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)
            if is_item and ast.unparse(target.value) == mapping and target.slice.value == key:  # type: ignore[attr-defined]
                best = node.value if best is None or node.lineno > best.lineno else best
    return best


def _returned(call: ast.Call, key: str, context: NameContext) -> tuple[ast.expr, NameContext] | None:
    """The one value that a function of the same file writes under a key of any of its dictionaries."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    for node in ast.walk(context.source.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            found = {ast.unparse(value): value for one, value in _written(node) if one == key}
            if len(found) != 1:
                return None
            [value] = found.values()
            owner, _ = context.source.around(value.lineno)
            return value, NameContext(context.source, owner, node, value.lineno, None)
    return None
