"""What would have kept a condition from holding: which argument to set to what, to leave out, or to pair with which.

A suggestion is derived, not known: ``basis`` says from what. None is made where the condition does not tell a value.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from troubleshooter.explaining.conditions import (
    Atom,
    Formula,
    atoms,
    comparison,
    instance,
    is_none,
    length,
    remainder,
)  # fmt: skip
from troubleshooter.explaining.origins import Origin

Basis = str


@dataclass(frozen=True)
class Remedy:
    """One suggestion: a phrase with its values, and code that can stand in a call."""

    key: str
    values: tuple[tuple[str, str], ...]
    code: str | None
    basis: Basis = "guard"


Origins = Callable[[ast.expr], list[Origin]]


def remedies(what: Formula | Atom, origins: Origins, constant: Callable[[ast.expr], Any]) -> Iterator[Remedy]:
    """Ways to make a condition false. ``constant``: the value of an expression, `UNKNOWN` where it is not known."""
    if isinstance(what, Formula) and what.kind == "or":
        # All parts would have to be false; those that are known to be false already need nothing.
        open_parts = [part for part in what.parts if not (isinstance(part, Atom) and is_false(part, constant))]
        for part in open_parts:
            yield from remedies(part, origins, constant)
        return
    for atom in atoms(what) if isinstance(what, Atom) else ():
        yield from _of(atom, origins, constant)
    if isinstance(what, Formula):
        found = [list(remedies(part, origins, constant)) for part in what.parts]
        # Of several parts, one that speaks of what the user passed himself comes first.
        for several in sorted(found, key=lambda some: -max((_worth(one) for one in some), default=0)):
            yield from several


def settable(several: list[Origin]) -> list[Origin]:
    """Those that a user sets by their name."""
    return [
        one for one in several if one.kind in ("argument", "option", "environment") and not one.name.startswith("_")
    ]


class _Unknown:
    pass


UNKNOWN = _Unknown()


def literal(text: str | None) -> Any:
    """The value of a literal; `UNKNOWN` for other text."""
    if text is None:
        return UNKNOWN
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return UNKNOWN


def is_false(atom: Atom, constant: Callable[[ast.expr], Any]) -> bool:
    """Whether a part of a condition is known not to hold."""
    found = comparison(atom)
    if found is None:
        value = constant(atom.expression)
        return value is not UNKNOWN and bool(value) != atom.holds
    left, right = constant(found[0]), constant(found[2])
    if left is UNKNOWN or right is UNKNOWN:
        return False
    try:
        return not _RELATIONS[found[1]](left, right)
    except TypeError:
        return False


_RELATIONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda a, b: a == b, ast.NotEq: lambda a, b: a != b, ast.Lt: lambda a, b: a < b, ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b, ast.GtE: lambda a, b: a >= b, ast.Is: lambda a, b: a is b or a == b,
    ast.IsNot: lambda a, b: not (a is b or a == b), ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip


def _worth(remedy: Remedy) -> int:
    return {"do-set": 3, "do-leave": 3, "do-pass": 2, "do-class": 2, "do-lengths": 2}.get(remedy.key, 1)


def _of(atom: Atom, origins: Origins, constant: Callable[[ast.expr], Any]) -> Iterator[Remedy]:
    if pair := remainder(atom):
        yield from _divisible(*pair, origins, constant)
    elif asked := instance(atom):
        for origin in settable(origins(asked[0]))[:1]:
            yield from _class(origin, asked[1], atom.holds)
    elif found := comparison(atom):
        yield from _compared(*found, origins, constant)
    elif isinstance(atom.expression, (ast.Name, ast.Attribute, ast.Subscript)) or _is_asked(atom.expression):
        found_origins = origins(atom.expression)
        if len(found_origins) == 1:  # of several, which one decided is not known
            for origin in settable(found_origins):
                yield from _switched(origin, atom.holds)
    elif (path := _path(atom)) is not None:
        for origin in settable(origins(path))[:1]:
            yield Remedy("do-exists", (("x", origin.name),), f"{origin.name}=...")
    elif (package := _available(atom)) is not None:
        yield Remedy("do-install", (("x", package),), f"pip install {package}")


def _compared(
    left: ast.expr, relation: type[ast.cmpop], right: ast.expr, origins: Origins, constant: Callable[[ast.expr], Any]
) -> Iterator[Remedy]:
    one, other = length(left), length(right)
    if one is not None and other is not None:
        for mine in settable(origins(one))[:1]:
            for its in origins(other)[:1]:
                yield Remedy("do-lengths", (("x", mine.name), ("y", its.name)), f"{mine.name}=...")
        return
    # What is computed from an argument is not what the user sets.
    lefts = settable(origins(left)) if _is_plain(left) else []
    rights = settable(origins(right)) if _is_plain(right) else []
    if is_none(right):
        if len(lefts) == 1 or relation in (ast.Is, ast.Eq):
            for origin in lefts:
                yield _given(origin) if relation in (ast.Is, ast.Eq) else _left_out(origin)
        return
    wanted = constant(right)
    for origin in lefts[:1]:
        if wanted is not UNKNOWN:
            yield from _value(origin, relation, wanted)
        elif rights and isinstance(right, (ast.Name, ast.Attribute)):
            yield _pair(origin, relation, rights[0].name)
        elif not isinstance(right, ast.Constant):
            yield _pair(origin, relation, re.sub(r"\b(?:self|cls)\.", "", ast.unparse(right)))
    value = constant(left)
    for origin in rights[:1]:
        if value is not UNKNOWN and (mirrored := _MIRRORED.get(relation)) is not None:
            yield from _value(origin, mirrored, value)


_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
}  # fmt: skip
_NEEDED: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<", ast.Eq: "!=", ast.NotEq: "==", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip


def _pair(origin: Origin, relation: type[ast.cmpop], other: str) -> Remedy:
    needed = f"{origin.name} {_NEEDED.get(relation, '!=')} {other}"
    return Remedy("do-pair", (("x", origin.name), ("y", needed)), f"{origin.name}=...")


def _value(origin: Origin, relation: type[ast.cmpop], value: Any) -> Iterator[Remedy]:
    """The value that an argument needs, where ``argument relation value`` must not hold."""
    step = 1 if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, float) and relation in (ast.Lt, ast.Gt, ast.LtE, ast.GtE):
        yield _pair(origin, relation, repr(value))  # the bound itself is seldom what is wanted
    elif relation in (ast.NotEq, ast.Lt, ast.Gt):
        yield _set(origin, repr(value))
    elif relation in (ast.LtE, ast.GtE) and step is not None:
        yield _set(origin, repr(value + (step if relation is ast.LtE else -step)))
    elif relation is ast.NotIn and isinstance(value, (list, tuple, set, frozenset, dict)) and value:
        given = literal(origin.value)
        if all(isinstance(one, (str, int, float)) for one in value) and isinstance(given, (str, int, float)):
            yield _set(origin, repr(closest(given, list(value))))
        elif len(text := ", ".join(map(repr, value))) < 400:
            yield Remedy("do-one-of", (("x", origin.name), ("y", text)), f"{origin.name}=...")
    elif relation in (ast.Eq, ast.Is, ast.In):
        default = literal(origin.default)
        taken = list(value) if relation is ast.In and isinstance(value, (list, tuple, set)) else [value]
        if isinstance(value, bool):
            yield _set(origin, repr(not value))
        elif default is not UNKNOWN and default not in taken:
            yield _set(origin, repr(default))
        else:
            yield Remedy("do-other", (("x", origin.name), ("y", repr(value))), None)


def closest(value: Any, allowed: list[Any]) -> Any:
    """The allowed value that is most like the one that was given."""
    texts = {str(one): one for one in allowed}
    longer = [text for text in texts if value is not UNKNOWN and text.lower().startswith(str(value).lower())]
    if longer:
        return texts[min(longer, key=len)]
    near = difflib.get_close_matches(str(value), texts, 1, 0.0) if value is not UNKNOWN else []
    return texts[near[0]] if near else allowed[0]


def _divisible(
    left: ast.expr, right: ast.expr, origins: Origins, constant: Callable[[ast.expr], Any]
) -> Iterator[Remedy]:
    whole, part = constant(left), constant(right)
    numbers = isinstance(whole, int) and isinstance(part, int) and whole > 0 and part > 0
    for origin in settable(origins(right))[:1] if _is_plain(right) else ():
        if numbers:
            yield _set(origin, str(max(n for n in range(1, part + 1) if whole % n == 0)))
    for origin in settable(origins(left))[:1] if _is_plain(left) else ():
        if isinstance(part, int) and part > 0:
            near = whole + part - whole % part if isinstance(whole, int) else part
            yield _set(origin, str(near))


def _class(origin: Origin, classes: list[str], holds: bool) -> Iterator[Remedy]:
    value = literal(origin.value)
    if not holds:
        code = f"{origin.name}={classes[0]}(...)"
        if classes[0] in ("int", "float") and isinstance(value, (int, float)):
            return  # the same number in another type is seldom what is missing
        if classes[0] in ("int", "float", "str", "bool") and origin.value:
            code = f"{origin.name}={classes[0]}({origin.value})"
        elif classes[0] in ("list", "tuple") and origin.value:
            code = f"{origin.name}=[{origin.value}]"
        yield Remedy("do-class", (("x", origin.name), ("y", " / ".join(classes))), code)
    elif "str" in classes and value is not UNKNOWN:
        yield _set(origin, repr([value]))
    elif origin.default == "None":
        yield _left_out(origin)


def _switched(origin: Origin, holds: bool) -> Iterator[Remedy]:
    about = f"{origin.annotation} {origin.default} {origin.value}"
    is_switch = "bool" in about or "True" in about or "False" in about
    if is_switch:
        yield _set(origin, "False" if holds else "True")
    else:
        yield _left_out(origin) if holds else _given(origin)


def _set(origin: Origin, value: str) -> Remedy:
    code = f"{origin.name}={value}" if origin.kind != "environment" else f"export {origin.name}={value}"
    return Remedy("do-set", (("x", origin.name), ("y", value)), code)


def _given(origin: Origin) -> Remedy:
    return Remedy("do-pass", (("x", origin.name),), f"{origin.name}=...")


def _left_out(origin: Origin) -> Remedy:
    return Remedy("do-leave", (("x", origin.name),), f"{origin.name}=None")


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) or _is_asked(node)


def _is_asked(node: ast.expr) -> bool:
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


def _path(atom: Atom) -> ast.expr | None:
    """The path that was looked for and not found."""
    node = atom.expression
    is_look = isinstance(node, ast.Call) and ast.unparse(node.func) in (
        "os.path.isdir",
        "os.path.exists",
        "os.path.isfile",
    )
    return node.args[0] if isinstance(node, ast.Call) and is_look and not atom.holds and node.args else None


def _available(atom: Atom) -> str | None:
    """The package that ``is_…_available()`` found missing."""
    node = atom.expression
    name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    if atom.holds or not (name.startswith("is_") and name.endswith("_available")):
        return None
    return name[3:-10].replace("_", "-")
