"""The functions of the user's own files, and what each of them returns, as far as its source shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from troubleshooter.explaining.source.sources import Function, SourceFile

_DISPLAYS: dict[type[ast.expr], str] = {
    ast.JoinedStr: "str", ast.Dict: "dict", ast.DictComp: "dict", ast.List: "list", ast.ListComp: "list",
    ast.Tuple: "tuple", ast.Set: "set", ast.SetComp: "set", ast.Compare: "bool",
}  # fmt: skip
_MADE = frozenset(("str", "int", "float", "bool", "list", "dict", "tuple", "set"))
_GIVES = {
    "all": "bool", "any": "bool", "isinstance": "bool", "hasattr": "bool", "callable": "bool", "len": "int", "sorted": "list",
}  # fmt: skip
"""What functions of Python give, whatever they get."""
_METHODS = {"startswith": "bool", "endswith": "bool", "isdigit": "bool", "isalpha": "bool", "splitlines": "list"}
"""The same of methods of texts."""
_GENERATORS = (ast.Yield, ast.YieldFrom)


class OwnFunction(NamedTuple):
    """A function of the user's own: ``owner`` its class. ``source``: the file."""

    function: Function
    owner: ast.ClassDef | None
    source: SourceFile

    @property
    def name(self) -> str:
        return self.function.name

    @property
    def full_name(self) -> str:
        """Its name, with that of its class where it is a special method: many classes have one of this name."""
        return f"{self.owner.name}.{self.name}" if self.owner is not None and self.name.startswith("__") else self.name

    @property
    def returned(self) -> list[ast.Return]:
        """Its ``return`` statements, not those of functions inside of it."""
        return [node for node in _inside(self.function) if isinstance(node, ast.Return)]

    @property
    def may_end(self) -> bool:
        """Whether it can end without a ``return``, so that it gives None."""
        return _may_end(self.function.body)

    @property
    def is_generator(self) -> bool:
        return any(isinstance(node, _GENERATORS) for node in _inside(self.function))


def functions_of(source: SourceFile) -> Iterator[OwnFunction]:
    """All functions of a file and of its classes, also those inside of others."""
    level: list[tuple[ast.AST, ast.ClassDef | None]] = [(source.tree, None)]
    while level:
        inner: list[tuple[ast.AST, ast.ClassDef | None]] = []
        for parent, owner in level:
            for node in ast.iter_child_nodes(parent):
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    yield OwnFunction(node, owner, source)
                    inner.append((node, None))
                elif isinstance(node, ast.stmt):
                    inner.append((node, node if isinstance(node, ast.ClassDef) else owner))
        level = inner


def class_of_value(value: ast.expr | None) -> str:
    """The class of what an expression gives, as far as it shows that; "" where it does not."""
    if value is None or isinstance(value, ast.Constant):
        return type(value.value if value is not None else None).__name__
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return "bool"
    if isinstance(value, ast.BoolOp):
        kinds = {class_of_value(one) for one in value.values}
        return kinds.pop() if len(kinds) == 1 else ""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in _MADE:
        return value.func.id
    if isinstance(value, ast.Call):
        func = value.func
        return _GIVES.get(func.id, "") if isinstance(func, ast.Name) else _METHODS.get(getattr(func, "attr", ""), "")
    return _DISPLAYS.get(type(value), "")


def _may_end(body: list[ast.stmt]) -> bool:
    last = body[-1] if body else None
    if isinstance(last, (ast.Return, ast.Raise)):
        return False
    if isinstance(last, ast.If):
        return not last.orelse or _may_end(last.body) or _may_end(last.orelse)
    if isinstance(last, (ast.With, ast.AsyncWith)):
        return _may_end(last.body)
    if isinstance(last, ast.Try):
        return _may_end(last.orelse or last.body) or any(_may_end(one.body) for one in last.handlers)
    if isinstance(last, ast.While):
        return not (isinstance(last.test, ast.Constant) and last.test.value)
    return not isinstance(last, ast.Match)


def _inside(function: Function) -> Iterator[ast.AST]:
    level: list[ast.AST] = [*function.body]
    while level:
        inner: list[ast.AST] = []
        for node in level:
            yield node
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
                inner += ast.iter_child_nodes(node)
        level = inner
