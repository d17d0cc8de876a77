"""Forms of what is assigned or passed: whether it is the same value, one item of it, a part of it, or made into another class."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.source.names import asked_for, is_reference, parameters
from troubleshooter.explaining.source.sources import Function


def goes_through(value: ast.expr) -> bool:
    """Whether a loop over a value has its items one by one: ``x``, ``x.items()``, ``enumerate(x)``."""
    if isinstance(value, ast.Call) and len(value.args) <= 1:
        func = value.func
        if isinstance(func, ast.Attribute):
            return func.attr in ("items", "values") and is_reference(func.value)
        return isinstance(func, ast.Name) and func.id == "enumerate" and all(map(is_reference, value.args))
    return is_reference(value)


def looked_up(value: ast.expr) -> ast.expr | None:
    """``b`` of ``table.get(key, b)``: what counts where the user's table has no such key."""
    if not isinstance(value, ast.Call) or len(value.args) != 2 or asked_for(value) is not None:
        return None
    is_get = isinstance(value.func, ast.Attribute) and value.func.attr == "get"
    return value.args[1] if is_get and is_reference(value.args[1]) else None


def is_converted(value: ast.expr) -> bool:
    """Whether a value is the same in another form: ``int(x)``, ``Mode(x)``, ``set(x) if … else x``."""
    if isinstance(value, ast.IfExp):
        return all(is_reference(part) or is_converted(part) for part in (value.body, value.orelse))
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and (value.func.id in _FORMS or value.func.id[:1].isupper())
        and len(value.args) == 1
        and is_reference(value.args[0])
    )


_FORMS = frozenset(("int", "float", "str", "bool", "list", "tuple", "set", "dict"))


def whole(several: list[Origin], rest: Sequence[str]) -> list[Origin]:
    """The origins of an object, or of one of its attributes."""
    return [one._replace(exact=False) for one in several] if rest else several


def item_parameter(function: Function) -> str:
    """The parameter that holds what stands in brackets: ``key`` of ``__getitem__(self, key)``."""
    names = parameters(function)
    return names[1] if function.name in ("__getitem__", "__setitem__", "__delitem__") and len(names) > 1 else ""


def class_called(function: str) -> str:
    """The class that a call makes an object of; "" where it calls something else."""
    name = function.rpartition(".")[2]
    return name if name[:1].isupper() else ""
