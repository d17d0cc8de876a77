"""The suggestions that can be made for one argument, and which origins are arguments that a user sets."""

from __future__ import annotations

import ast
import re

from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy

NEEDED: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
"""For a relation that must not hold, the one that must."""


def settable(several: list[Origin]) -> list[Origin]:
    """Those that a user sets by their name, and whose value is what the condition speaks of."""
    return [
        one
        for one in several
        if one.kind in ("argument", "option", "environment")
        and one.exact
        and not one.lost
        and not one.name.startswith("_")
    ]


def set_to(origin: Origin, value: str) -> Remedy:
    """Set it to a value, given as source. YAML reads ``2e-05`` as a text and ``2.0e-05`` as a number, as Python does both."""
    if re.search(r"\.ya?ml:\d+$", origin.place):
        value = re.sub(r"^(-?\d+)(e[-+]?\d+)$", r"\1.0\2", value)
    code = f"{origin.name}={value}" if origin.kind != "environment" else f"export {origin.name}={value}"
    return Remedy("do-set", (("x", origin.name), ("y", value)), code)


def give(origin: Origin) -> Remedy:
    return Remedy("do-pass", (("x", origin.name),), f"{origin.name}=...")


def leave_out(origin: Origin) -> Remedy:
    return Remedy("do-leave", (("x", origin.name),), f"{origin.name}=None")


def pair(origin: Origin, relation: type[ast.cmpop], other: str, name: str = "") -> Remedy:
    """Set it so that a relation to something else does not hold."""
    needed = f"{origin.name} {NEEDED.get(relation, '!=')} {other}"
    return Remedy("do-pair", (("x", name or origin.name), ("y", needed)), f"{name or origin.name}=...")


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is a value as it was given, not one computed from it."""
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or is_asked(node)


def is_asked(node: ast.expr) -> bool:
    """Whether an expression asks an object for a value by its name."""
    if not isinstance(node, ast.Call):
        return False
    name = (
        node.func.id
        if isinstance(node.func, ast.Name)
        else node.func.attr
        if isinstance(node.func, ast.Attribute)
        else ""
    )
    return name in ("getattr", "get", "pop", "bool")


def without_self(text: str) -> str:
    return re.sub(r"\b(?:self|cls)\.", "", text)
