"""The state while a file is read from top to bottom: open guards, names bound to texts, last assignments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from kb import lazy
from kb.index.place import MAX_BINDINGS, MAX_GUARDS, Binding, Guard, GuardKind, Parameter, Piece
from kb.index.template import TextOption, dotted, source

_STRING = lazy.compile(r"""'(?:[^'\\]|\\.){0,300}'|"(?:[^"\\]|\\.){0,300}\"""")
_NAME = lazy.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


Texts = dict[str, list[TextOption]]
"""Names (also dotted) that are bound to texts. A list is never changed, so that the same list means the same texts."""


class Open(NamedTuple):
    """A guard, and the time since when it holds."""

    guard: Guard
    order: int


class Assigned(NamedTuple):
    """The last assignment to a name. Its source is written out only if a place needs it."""

    order: int
    value: ast.expr | None
    line: int
    prefix: str


class Scope:
    """One function, class body or module while it is read."""

    def __init__(self, function: str, parameters: tuple[Parameter, ...], outer: Scope | None) -> None:
        self.function = function
        self.parameters = parameters
        self.owner: str = outer.owner if outer else ""
        self.fields: tuple[Parameter, ...] = ()
        self.bound: Texts = dict(outer.bound) if outer else {}
        self.assigned: dict[str, Assigned] = {}
        self.outer = outer
        self.order: int = outer.order if outer else 0

    def guard(self, kind: GuardKind, condition: str, holds: bool, line: int) -> Open:
        """A guard that holds from now on."""
        self.order += 1
        return Open(Guard(kind, condition, holds, line), self.order)

    def assign(self, name: str, value: ast.expr | None, line: int, prefix: str = "") -> None:
        """Record an assignment. Without a value, the earlier value is forgotten and only the time is kept."""
        self.order += 1
        self.assigned[name] = Assigned(self.order, value, line, prefix)

    def last(self, name: str) -> Assigned | None:
        """The last assignment to a name, in this scope or in one around it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.assigned:
                return scope.assigned[name]
            scope = scope.outer
        return None

    def closed(self, guards: list[Open]) -> tuple[Guard, ...]:
        """The open guards. One is marked stale if a name in it was assigned since it began to hold."""
        return tuple(
            guard._replace(stale=True)
            if any(self._since(name) > order for name in names_in(guard.condition))
            else guard
            for guard, order in guards[-MAX_GUARDS:]
        )

    def _since(self, name: str) -> int:
        return self.assigned[name].order if name in self.assigned else 0

    def bindings(self, guards: tuple[Guard, ...], template: tuple[Piece, ...]) -> tuple[Binding, ...]:
        """The last assignments to names in the guards (nearest first) and in the holes, then to names in these assignments."""
        waiting = [guard.condition for guard in reversed(guards) if guard.kind != "early"]
        waiting += [piece.expression for piece in template if not isinstance(piece, str)]
        found: dict[str, Binding] = {}
        for text in waiting:
            for name in names_in(text):
                known = self.last(name)
                if known is None or known.value is None or name in found:
                    continue
                expression = known.prefix + source(known.value)
                found[name] = Binding(name, expression, known.line)
                waiting.append(expression)
                if len(found) == MAX_BINDINGS:
                    return tuple(found.values())
        return tuple(found.values())


@lru_cache(maxsize=4096)
def names_in(text: str) -> tuple[str, ...]:
    """The names in an expression. A dotted name also gives the parts before each dot, except ``self`` alone."""
    found: dict[str, None] = {}
    for match in _NAME.finditer(_STRING.sub("''", text)):
        name = match[0]
        while name and name not in ("self", "cls"):
            found[name] = None
            name = name.rpartition(".")[0]
    return tuple(found)


def parameters_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> tuple[Parameter, ...]:
    """The parameters of a function, without a first ``self`` or ``cls``."""
    found: list[Parameter] = []
    positional = [*node.args.posonlyargs, *node.args.args]
    given: list[ast.expr | None] = [None] * (len(positional) - len(node.args.defaults))
    for argument, default in zip(positional, [*given, *node.args.defaults], strict=True):
        found.append(_parameter(argument, default))
    if node.args.vararg:
        found.append(_parameter(node.args.vararg, None, "*"))
    for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        found.append(_parameter(argument, default))
    if node.args.kwarg:
        found.append(_parameter(node.args.kwarg, None, "**"))
    return tuple(found[1:] if found and found[0].name in ("self", "cls") else found)


def _parameter(argument: ast.arg, default: ast.expr | None, stars: str = "") -> Parameter:
    annotation = source(argument.annotation) if argument.annotation else None
    return Parameter(stars + argument.arg, source(default) if default is not None else None, annotation)


def fields_of(node: ast.ClassDef) -> tuple[Parameter, ...]:
    """The annotated fields of a class. For ``field(default=…)``, the default is the value."""
    found: list[Parameter] = []
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            found.append(Parameter(item.target.id, _field_default(item.value), source(item.annotation)))
    return tuple(found)


def _field_default(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Call) and dotted(node.func).rpartition(".")[2].lower() == "field":
        for keyword in node.keywords:
            if keyword.arg in ("default", "default_factory"):
                return source(keyword.value) + ("()" if keyword.arg == "default_factory" else "")
        return source(node.args[0]) if node.args else None
    return source(node) if node is not None else None


def targets(node: ast.expr) -> Iterator[str]:
    """The names that an assignment's target binds."""
    waiting: list[ast.expr] = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, (ast.Tuple, ast.List)):
            waiting += item.elts
        elif isinstance(item, ast.Starred):
            waiting.append(item.value)
        elif name := dotted(item):
            yield name


def merged(before: Texts, branches: list[tuple[Texts, tuple[Guard, ...]]], most: int) -> Texts:
    """The texts that names may have after branches: for each name that a branch changed, every branch's text with its guards."""
    found: Texts = {}
    for name in {name: None for bound, _ in branches for name in bound}:
        if all(bound.get(name) is before.get(name) for bound, _ in branches):
            found[name] = before[name]
            continue
        texts: list[TextOption] = []
        for bound, guards in branches:
            texts += [TextOption(option.pieces, (*guards, *option.guards)) for option in bound.get(name, ())]
        if len(texts) <= most:
            found[name] = texts
    return found
