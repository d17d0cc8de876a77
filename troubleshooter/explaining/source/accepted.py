"""The values that a library's source accepts: the members of an enumeration, the keys of a table, and the texts that a
function compares a value with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from troubleshooter.explaining.source.classes import attribute, imported_from
from troubleshooter.explaining.source.names import NameContext, last_value
from troubleshooter.explaining.source.sources import Function, SourceFile, Sources

MAX_STEPS = 4
"""Names that are followed on the way to a table or a class."""
MAX_MEMBERS = 400
"""Values of one table that are read."""


class _Place(NamedTuple):
    """Where an expression stands: a file, and the class and function around it."""

    source: SourceFile
    owner: ast.ClassDef | None = None
    function: Function | None = None
    line: int = 10**9


def members(name: str, context: NameContext, sources: Sources) -> list[str]:
    """The values of the members of an enumeration that a file defines or imports; empty where it is none."""
    source: SourceFile | None = context.source
    for _ in range(MAX_STEPS):
        if source is None:
            return []
        if (found := source.class_named(name)) is not None:
            return list(_texts_of(found))
        module = imported_from(source, name)
        source = sources.near(source, module) if module else None
    return []


def _texts_of(class_: ast.ClassDef) -> Iterator[str]:
    if not any("Enum" in ast.unparse(base) for base in class_.bases):
        return
    for node in class_.body[:MAX_MEMBERS]:
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, (str, int)):
            yield str(value.value)


def keys(holder: ast.expr, context: NameContext, sources: Sources) -> list[str]:
    """The keys of a table that an expression stands for, as far as its source writes them out."""
    place = _Place(context.source, context.owner, context.function, context.line)
    return list(_keys(holder, place, sources, MAX_STEPS))


def _keys(node: ast.expr, place: _Place, sources: Sources, left: int) -> Iterator[str]:
    if left <= 0:
        return
    if isinstance(node, ast.Dict):
        for key in node.keys[:MAX_MEMBERS]:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value
            elif isinstance(key, ast.Attribute) and key.attr.isupper():  # a member of an enumeration
                yield key.attr
    elif isinstance(node, ast.List):
        for pair in node.elts[:MAX_MEMBERS]:
            first = pair.elts[0] if isinstance(pair, ast.Tuple) and pair.elts else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value
    elif (
        isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
    ):  # OrderedDict([…]), a class of tables
        yield from _keys(node.args[0], place, sources, left - 1)
    elif (found := _behind(node, place, sources)) is not None:
        yield from _keys(*found, sources, left - 1)


def _behind(node: ast.expr, place: _Place, sources: Sources) -> tuple[ast.expr, _Place] | None:
    """What a name or an attribute of the object was last given, and where that stands."""
    if isinstance(node, ast.Name):
        inside = last_value(node.id, place.function, place.line) if place.function is not None else None
        if inside is not None:
            return inside, place
        if (value := of_module(place.source, node.id)) is not None:
            return value, _Place(place.source)
        module = imported_from(place.source, node.id)
        there = sources.near(place.source, module) if module else None
        value = of_module(there, node.id) if there is not None else None
        return (value, _Place(there)) if value is not None and there is not None else None
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    if isinstance(node, ast.Attribute) and is_own and place.owner is not None:
        found = attribute(sources, place.source, place.owner, node.attr, place.function, place.line)
        if found is not None and found.value is not None:
            return found.value, _Place(found.source, found.owner, found.function, found.value.lineno)
    return None


def of_module(source: SourceFile, name: str) -> ast.expr | None:
    """What a file gives a name on the level of the module."""
    for node in source.tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(one, ast.Name) and one.id == name for one in targets):
                return node.value
    return None


def compared_texts(name: str, function: Function) -> list[str]:
    """The texts that a function compares an argument with: ``x == "a"``, ``x.lower() in ("b", "c")``, ``x.startswith("d")``."""
    found: dict[str, None] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and _is_of(node.left, name):
            for one in _constants(node.comparators[0]):
                found.setdefault(one)
        elif (begin := _begins(node, name)) is not None:
            for one in _constants(begin):
                found.setdefault(one)
    return list(found)


def _begins(node: ast.AST, name: str) -> ast.expr | None:
    """``"a"`` of ``x.startswith("a")``."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith"):
        return None
    return node.args[0] if node.args and _is_of(node.func.value, name) else None


def _constants(node: ast.expr) -> Iterator[str]:
    parts = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    for part in parts:
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value:
            yield part.value


def _is_of(node: ast.expr, name: str) -> bool:
    """Whether an expression is a name, or its text in other letters."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        return node.func.attr in ("lower", "upper", "strip", "casefold") and _is_of(node.func.value, name)
    return isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node).removeprefix("self.") == name
