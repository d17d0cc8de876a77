"""Where a class sets an attribute: a field, an assignment in a method, a property; also in its base classes."""

from __future__ import annotations

import ast
from typing import NamedTuple

from troubleshooter.explaining.source.kept import kept_with_node
from troubleshooter.explaining.source.names import other_branches
from troubleshooter.explaining.source.sources import Function, SourceFile, Sources

MAX_BASES = 4
"""Classes that are looked at on the way up from one class."""


class Attribute(NamedTuple):
    """How an attribute gets its value: as a ``field`` of a dataclass, or from the expression ``value`` in ``function``."""

    source: SourceFile
    owner: ast.ClassDef
    function: Function | None
    value: ast.expr | None
    field: bool = False
    default: str | None = None
    annotation: str | None = None


def attribute(
    sources: Sources, source: SourceFile, owner: ast.ClassDef, name: str, within: Function | None, line: int
) -> Attribute | None:
    """Where ``self.name`` gets its value, as seen from a line of the method ``within``; None where no class shows it."""
    if within is not None and (value := _assigned(within, name, line)) is not None:
        return Attribute(source, owner, within, value)
    classes = [(source, owner)]
    for seen in range(MAX_BASES):
        if seen >= len(classes):
            break
        module, class_ = classes[seen]
        if found := _in_class(module, class_, name):
            return found
        classes += bases(sources, module, class_)
    return None


def field(sources: Sources, source: SourceFile, owner: ast.ClassDef, name: str) -> Attribute | None:
    """The field of a dataclass that an attribute is, whatever methods assign to it later."""
    found = attribute(sources, source, owner, name, None, 0)
    return found if found is not None and found.field else None


def bases(sources: Sources, source: SourceFile, class_: ast.ClassDef) -> list[tuple[SourceFile, ast.ClassDef]]:
    """The base classes whose source is in this file or in a module of the same package that it imports."""
    found = []
    for base in class_.bases:
        name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
        if here := source.class_named(name):
            found.append((source, here))
            continue
        module = imported_from(source, name)
        there = sources.near(source, module) if module else None
        if there is not None and (class_there := there.class_named(name)):
            found.append((there, class_there))
    return found


def imported_from(source: SourceFile, name: str) -> str:
    """The dotted module that a file imports a name from; "" where it does not."""
    package = source.below.removesuffix(".py").removesuffix("/__init__").split("/")
    if source.below.endswith("/__init__.py"):
        package.append("__init__")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and any((alias.asname or alias.name) == name for alias in node.names):
            root = package[: len(package) - node.level] if node.level else []
            return ".".join([*root, *((node.module or "").split(".") if node.module else [])])
    return ""


def is_construction(call: ast.Call) -> bool:
    """Whether a call looks like one of a class."""
    name = (
        call.func.attr
        if isinstance(call.func, ast.Attribute)
        else call.func.id
        if isinstance(call.func, ast.Name)
        else ""
    )
    return name[:1].isupper()


def _in_class(source: SourceFile, class_: ast.ClassDef, name: str) -> Attribute | None:
    methods = [node for node in class_.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for node in class_.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            if any(method.name == "__init__" and _has(method, name) for method in methods):
                break
            return Attribute(
                source, class_, None, None, field=True, default=_default(node.value), annotation=ast.unparse(node.annotation)
            )  # fmt: skip
    for fills_in in (False, True):
        for method in sorted(methods, key=lambda method: method.name != "__init__"):
            if (value := _assigned(method, name, 10**9, fills_in=fills_in)) is not None:
                return Attribute(source, class_, method, value)
    for method in methods:
        if method.name == name and any(
            isinstance(mark, ast.Name) and mark.id == "property" for mark in method.decorator_list
        ):
            returned = [
                node.value for node in ast.walk(method) if isinstance(node, ast.Return) and node.value is not None
            ]
            if returned:
                return Attribute(source, class_, method, returned[-1])
    return None


def _has(method: Function, name: str) -> bool:
    return any(part.arg == name for part in (*method.args.args, *method.args.kwonlyargs))


def _assigned(method: Function, name: str, line: int, *, fills_in: bool = False) -> ast.expr | None:
    """The last value that a method gives ``self.name`` above a line. ``fills_in``: also where it had none before."""
    best: ast.expr | None = None
    values = [(value, end) for value, end in _given_to_self(method).get(name, ()) if end < line]
    passed_by = [*other_branches(method, line), *([] if fills_in else _filled_in(method, name, line))] if values else []
    for value, _ in values:
        if any(begin <= value.lineno <= end for begin, end in passed_by):
            continue
        best = value if best is None or value.lineno > best.lineno else best
    return best


@kept_with_node
def _given_to_self(method: Function) -> dict[str, list[tuple[ast.expr, int]]]:
    """What a method gives the attributes of its object, each with the last line of the statement; read once."""
    found: dict[str, list[tuple[ast.expr, int]]] = {}
    for node in ast.walk(method):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(part, ast.Attribute) and _is_self(part.value):
                    found.setdefault(part.attr, []).append((node.value, node.end_lineno or 0))
    return found


def _filled_in(method: Function, name: str, line: int) -> list[tuple[int, int]]:
    """The lines of the branches for ``self.name is None``: what they assign is only a default."""
    empty = {f"{self}.{name} is None" for self in ("self", "cls")} | {f"not {self}.{name}" for self in ("self", "cls")}
    return [
        (begin, last) for test, begin, last in _branches_on_self(method) if test in empty and not begin <= line <= last
    ]


@kept_with_node
def _branches_on_self(method: Function) -> list[tuple[str, int, int]]:
    """The conditions of a method's branches, each with the first and the last line of what it leads to."""
    return [
        (ast.unparse(node.test), node.body[0].lineno, node.body[-1].end_lineno or node.body[-1].lineno)
        for node in ast.walk(method)
        if isinstance(node, ast.If)
    ]


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def _default(value: ast.expr | None) -> str | None:
    """The default of a field: what stands there, or the ``default=`` of ``field(...)``."""
    if isinstance(value, ast.Call):
        inner = [keyword.value for keyword in value.keywords if keyword.arg == "default"]
        return ast.unparse(inner[0]) if inner else None
    return ast.unparse(value) if value is not None else None
