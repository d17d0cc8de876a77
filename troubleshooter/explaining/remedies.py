"""What would have kept a condition from holding: which argument to set to what, to leave out, or to pair with which.

A suggestion is derived, not known: ``basis`` says from what. None is made where the condition does not tell a value.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

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
        open_parts = [part for part in what.parts if not is_false(part, constant)]
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
    """Those that a user sets by their name, and whose value is what the condition speaks of."""
    return [
        one
        for one in several
        if one.kind in ("argument", "option", "environment") and one.exact and not one.name.startswith("_")
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


def is_false(atom: Formula | Atom, constant: Callable[[ast.expr], Any]) -> bool:
    """Whether a part of a condition is known not to hold."""
    if isinstance(atom, Formula):
        return (any if atom.kind == "and" else all)(is_false(part, constant) for part in atom.parts)
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
    elif (taken := _taken_path(atom)) is not None:
        for origin in settable(origins(taken))[:1]:
            yield Remedy("do-other", (("x", origin.name), ("y", origin.value or "…")), f"{origin.name}=...")
    elif (wrapped := _of_each(atom)) is not None:
        for origin in settable(origins(wrapped))[:1]:
            if origin.value and origin.value != origin.name:
                yield _set(origin, f"[{origin.value}]")
    elif (both := _subset(atom)) is not None:
        for origin in settable(origins(both[1]))[:1]:
            yield from _superset(origin, *(literal(one.value) for one in (*origins(both[0])[:1], origin)))
    elif (path := _path(atom)) is not None:
        for origin in sorted(settable(origins(path)), key=lambda one: one.passed is not True)[:1]:
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
    if (several := _summed(left)) is not None and not is_none(right):
        for origin in settable(origins(several))[:1]:
            needed = f"{ast.unparse(left)} {_NEEDED.get(relation, '!=')} {ast.unparse(right)}"
            yield Remedy("do-pair", (("x", origin.name), ("y", _without_self(needed))), f"{origin.name}=...")
        return
    # What is computed from an argument is not what the user sets.
    lefts = settable(origins(left)) if _is_plain(left) else []
    rights = settable(origins(right)) if _is_plain(right) else []
    if is_none(right):
        if len(lefts) == 1 or relation in (ast.Is, ast.Eq):
            for origin in lefts:
                if relation in (ast.Is, ast.Eq) and literal(origin.value) not in (UNKNOWN, None):
                    continue  # it was given, and lost on the way
                yield _given(origin) if relation in (ast.Is, ast.Eq) else _left_out(origin)
        return
    wanted = constant(right)
    if relation is ast.NotIn and rights and rights[0].passed and not any(one.passed for one in origins(left)):
        there = constant(left)
        shown = repr(there) if isinstance(there, (str, int)) else _without_self(ast.unparse(left))
        yield Remedy("do-pair", (("x", rights[0].name), ("y", f"{shown} in {rights[0].name}")), f"{rights[0].name}=...")
        return
    if relation is ast.In and isinstance(left, ast.Constant) and isinstance(text := left.value, str) and text:
        for origin in rights[:1]:
            if (
                isinstance(given := literal(origin.value), str) and text in given
            ):  # a character that a name may not hold
                yield _set(origin, repr(given.replace(text, "_")))
        return
    for origin in lefts[:1]:
        if wanted is not UNKNOWN:
            yield from _value(origin, relation, wanted)
        elif rights and isinstance(right, (ast.Name, ast.Attribute)):
            if rights[0].name != origin.name:
                yield _pair(origin, relation, rights[0].name)
        elif not isinstance(right, ast.Constant) and all(one.name != origin.name for one in origins(right)):
            yield _pair(origin, relation, _without_self(ast.unparse(right)))
    if not lefts and len(parts := origins(left)) == 1:
        yield from _of_part(parts[0], left, relation, right, wanted)
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


def _of_part(
    origin: Origin, left: ast.expr, relation: type[ast.cmpop], right: ast.expr, wanted: Any
) -> Iterator[Remedy]:
    """Where only a part of an argument is compared, or what was read from it."""
    if origin.kind not in ("argument", "option") or origin.name.startswith("_"):
        return
    text = _without_self(ast.unparse(left))
    if isinstance(left, ast.Subscript) and re.match(rf"{re.escape(origin.name)}\b", text):
        yield _pair(replace(origin, name=text), relation, _without_self(ast.unparse(right)), origin.name)
    elif relation is ast.NotIn and isinstance(wanted, (list, tuple)) and any(isinstance(one, set) for one in wanted):
        yield Remedy("do-one-of", (("x", origin.name), ("y", ", ".join(map(repr, wanted))[:400])), f"{origin.name}=...")


def _without_self(text: str) -> str:
    return re.sub(r"\b(?:self|cls)\.", "", text)


def _pair(origin: Origin, relation: type[ast.cmpop], other: str, name: str = "") -> Remedy:
    needed = f"{origin.name} {_NEEDED.get(relation, '!=')} {other}"
    return Remedy("do-pair", (("x", name or origin.name), ("y", needed)), f"{name or origin.name}=...")


def _value(origin: Origin, relation: type[ast.cmpop], value: Any) -> Iterator[Remedy]:
    """The value that an argument needs, where ``argument relation value`` must not hold."""
    step = 1 if isinstance(value, int) and not isinstance(value, bool) else None
    given = literal(origin.value)
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if value == 0 and is_number and given < 0 and relation in (ast.Lt, ast.LtE):
        yield _set(origin, repr(-given))  # a sign that was written by mistake
    elif isinstance(value, float) and relation in (ast.Lt, ast.Gt, ast.LtE, ast.GtE):
        yield _pair(origin, relation, repr(value))  # the bound itself is seldom what is wanted
    elif relation in (ast.NotEq, ast.Lt, ast.Gt):
        yield _set(origin, repr(value))
    elif relation in (ast.LtE, ast.GtE) and step is not None:
        needed = value + (step if relation is ast.LtE else -step)
        yield _set(origin, repr(float(needed) if origin.annotation == "float" else needed))
    elif relation is ast.NotIn and isinstance(value, (list, tuple, set, frozenset, dict)) and value:
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


def _summed(node: ast.expr) -> ast.expr | None:
    """``x`` of ``sum(x)`` or ``len(x)``."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("sum", "len")
    if is_call and len(node.args) == 1 and isinstance(node.args[0], (ast.Name, ast.Attribute)):  # type: ignore[attr-defined]
        return cast("ast.expr", node.args[0])  # type: ignore[attr-defined]
    return None


def _of_each(atom: Atom) -> ast.expr | None:
    """``x`` of ``any(not isinstance(one, list) for one in x)``: what should have been a list of lists."""
    node = atom.expression
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "any" and atom.holds and node.args):
        return None
    each = node.args[0]
    if not isinstance(each, (ast.GeneratorExp, ast.ListComp)) or len(each.generators) != 1:
        return None
    asked = re.fullmatch(r"not isinstance\((\w+), (?:list|tuple|\(list, tuple\))\)", ast.unparse(each.elt))
    loop = each.generators[0]
    return loop.iter if asked and asked[1] == ast.unparse(loop.target) else None


def _subset(atom: Atom) -> tuple[ast.expr, ast.expr] | None:
    """``a, b`` where ``a.issubset(b)`` was false."""
    node = atom.expression
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "issubset"
    if not is_call or atom.holds or len(node.args) != 1:  # type: ignore[attr-defined]
        return None
    return node.func.value, node.args[0]  # type: ignore[attr-defined]


def _superset(origin: Origin, part: Any, whole: Any) -> Iterator[Remedy]:
    kinds = (list, tuple, set)
    if isinstance(part, kinds) and isinstance(whole, kinds):
        yield _set(origin, repr([*whole, *(one for one in part if one not in whole)]))


def _taken_path(atom: Atom) -> ast.expr | None:
    """The path that was looked for and should not have been there."""
    node = atom.expression
    is_look = isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.path.isfile", "os.path.exists")
    return node.args[0] if isinstance(node, ast.Call) and is_look and atom.holds and node.args else None


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
