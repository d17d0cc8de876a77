"""Suggestions for a comparison that held and should not have: the value on the other side, a bound, or what is allowed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any, cast

from troubleshooter.explaining.making import NEEDED, give, is_plain, leave_out, pair, set_to, settable, without_self
from troubleshooter.explaining.origin import Origin, Origins
from troubleshooter.explaining.place.conditions import is_none, length
from troubleshooter.explaining.place.holding import Values
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, choices, literal, nearest


def compared(
    left: ast.expr, relation: type[ast.cmpop], right: ast.expr, origins: Origins, constant: Values
) -> Iterator[Remedy]:
    """Ways to end ``left relation right``. ``constant``: the value of an expression, where it is known."""
    one, other = length(left), length(right)
    if one is not None and other is not None:
        for mine in settable(origins(one))[:1]:
            for its in [o for o in origins(other)[:1] if o.name != mine.name]:
                yield Remedy("do-lengths", (("x", mine.name), ("y", its.name)), f"{mine.name}=...")
        return
    if (several := _summed(left)) is not None and not is_none(right):
        for origin in settable(origins(several))[:1]:
            needed = f"{ast.unparse(left)} {NEEDED.get(relation, '!=')} {ast.unparse(right)}"
            yield Remedy("do-pair", (("x", origin.name), ("y", without_self(needed))), f"{origin.name}=...")
        return
    # What is computed from an argument is not what the user sets.
    lefts = settable(origins(left)) if is_plain(left) else []
    rights = settable(origins(right)) if is_plain(right) else []
    if is_none(right):
        if not lefts and relation in (ast.Is, ast.Eq) and isinstance(left, ast.Attribute):
            yield from _asked_of(left, origins)
        if len(lefts) == 1 or relation in (ast.Is, ast.Eq):
            for origin in lefts:
                if relation in (ast.Is, ast.Eq) and literal(origin.value) not in (UNKNOWN, None):
                    continue  # it was given, and lost on the way
                yield give(origin) if relation in (ast.Is, ast.Eq) else leave_out(origin)
        return
    wanted = constant(right)
    if relation is ast.NotIn and rights and rights[0].passed and not any(one.passed for one in origins(left)):
        there = constant(left)
        shown = repr(there) if isinstance(there, (str, int)) else without_self(ast.unparse(left))
        yield Remedy("do-pair", (("x", rights[0].name), ("y", f"{shown} in {rights[0].name}")), f"{rights[0].name}=...")
        return
    if relation is ast.In and isinstance(left, ast.Constant) and isinstance(text := left.value, str) and text:
        for origin in rights[:1]:
            # A character that a name may not hold; a word is not cut out of one.
            if isinstance(given := literal(origin.value), str) and text in given and not re.search(r"\w", text):
                yield set_to(origin, repr(given.replace(text, "_")))
        return
    for origin in lefts[:1]:
        if wanted is not UNKNOWN:
            yield from _value(origin, relation, wanted, is_written=isinstance(right, ast.Constant))
        elif is_member(right):
            yield from _member(origin, relation, right)
        elif rights and isinstance(right, (ast.Name, ast.Attribute)):
            if rights[0].name != origin.name:
                yield pair(origin, relation, rights[0].name)
        elif (
            not isinstance(right, ast.Constant)
            and (behind := origins(right))
            and all(o.name != origin.name for o in behind)
        ):
            yield pair(origin, relation, without_self(ast.unparse(right)))
    if not lefts and len(parts := origins(left)) == 1:
        of_part = [_of_both(one, right, origins) for one in _of_part(parts[0], left, relation, right, wanted)]
        yield from of_part
        if any(one.key == "do-either" for one in of_part):
            return
    behind = origins(right) if not rights and relation in _MIRRORED else []
    if len(behind) == 1 and behind[0].passed and _is_feature(right, behind[0].name):
        yield from _of_part(behind[0], right, _MIRRORED[relation], left, constant(left))
    value = constant(left)
    for origin in rights[:1]:
        if value is not UNKNOWN and (mirrored := _MIRRORED.get(relation)) is not None:
            yield from _value(origin, mirrored, value, is_written=isinstance(left, ast.Constant))


_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.Eq, ast.NotEq: ast.NotEq, ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE,
}  # fmt: skip


def _of_part(
    origin: Origin, left: ast.expr, relation: type[ast.cmpop], right: ast.expr, wanted: Any
) -> Iterator[Remedy]:
    """Where only a part of an argument is compared, or what was read from it."""
    if origin.kind not in ("argument", "option") or origin.name.startswith("_"):
        return
    text = without_self(ast.unparse(left))
    if origin.passed and not origin.lost and _is_feature(left, origin.name) and relation not in (ast.Is, ast.IsNot):
        other = repr(wanted) if isinstance(wanted, (str, int, float, list)) else without_self(ast.unparse(right))
        yield pair(origin._replace(name=text), relation, other, origin.name)
    elif isinstance(left, ast.Subscript) and re.match(rf"{re.escape(origin.name)}\b", text):
        yield pair(origin._replace(name=text), relation, without_self(ast.unparse(right)), origin.name)
    elif relation is ast.NotIn and isinstance(wanted, (list, tuple)) and any(isinstance(one, set) for one in wanted):
        yield Remedy("do-one-of", (("x", origin.name), ("y", choices(UNKNOWN, wanted))), f"{origin.name}=...")


def _of_both(remedy: Remedy, right: ast.expr, origins: Origins) -> Remedy:
    """A suggestion that names the user's other argument, too, where an argument's shape has to be that of another one: either may be wrong."""
    others = [one for one in origins(right) if one.passed and not one.lost and literal(one.value) is UNKNOWN]
    if remedy.key != "do-pair" or len(others) != 1 or others[0].name == remedy.subject:
        return remedy
    told = dict(remedy.values)
    return remedy._replace(key="do-either", values=(*told.items(), ("z", others[0].name)), code=None)


def _asked_of(left: ast.Attribute, origins: Origins) -> Iterator[Remedy]:
    """The attribute of an object that the user passes: it is given where that object is made."""
    owners = origins(left)
    if len(owners) == 1 and owners[0].passed and owners[0].name == ast.unparse(left.value):
        yield give(owners[0]._replace(name=left.attr))


def _is_feature(node: ast.expr, name: str) -> bool:
    """Whether an expression asks an argument of this name itself for its shape, its size or its items."""
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in ("len", "sorted", "set", "max", "min", "type"):
            return len(node.args) == 1 and ast.unparse(node.args[0]) == name
        constant = all(isinstance(part, (ast.Constant, ast.UnaryOp)) for part in node.args)
        return constant and isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == name
    if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Constant, ast.UnaryOp)):
        return _is_feature(node.value, name)
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == name


def is_member(node: ast.expr) -> bool:
    """Whether an expression is a member of an enumeration: ``TaskType.CAUSAL_LM``."""
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id[:1].isupper() and node.attr.isupper()
    return isinstance(node, (ast.Tuple, ast.List, ast.Set)) and bool(node.elts) and all(map(is_member, node.elts))


def _member(origin: Origin, relation: type[ast.cmpop], member: ast.expr) -> Iterator[Remedy]:
    if isinstance(member, ast.Attribute) and relation in (ast.NotEq, ast.IsNot):
        yield set_to(origin, ast.unparse(member))
    elif isinstance(member, (ast.Tuple, ast.List, ast.Set)) and relation is ast.NotIn:
        listed = ", ".join(map(ast.unparse, member.elts))
        yield Remedy("do-one-of", (("x", origin.name), ("y", listed)), f"{origin.name}=...")


def _value(origin: Origin, relation: type[ast.cmpop], value: Any, *, is_written: bool) -> Iterator[Remedy]:
    """The value that an argument needs, where ``argument relation value`` must not hold.

    ``is_written``: whether the condition itself has the value, as a number; it may also be that of another argument.
    """
    step = 1 if isinstance(value, int) and not isinstance(value, bool) else None
    given = literal(origin.value)
    is_number = isinstance(given, (int, float)) and not isinstance(given, bool)
    if isinstance(given, float) and value in (0, 1) and is_written and relation in (ast.LtE, ast.GtE):
        share = 0.5 if value else max(0.5, -given)  # most floats between such bounds are shares
        yield pair(origin, relation, repr(value))._replace(trial=share)
    elif value == 0 and is_number and given < 0 and relation in (ast.Lt, ast.LtE):
        yield set_to(origin, repr(-given))  # a sign that was written by mistake
    elif isinstance(value, float) and relation in (ast.Lt, ast.Gt, ast.LtE, ast.GtE):
        yield pair(origin, relation, repr(value))  # the bound itself is seldom what is wanted
    elif relation in (ast.NotEq, ast.Lt, ast.Gt) or (relation is ast.IsNot and isinstance(value, bool)):
        yield set_to(origin, repr(value))
    elif relation in (ast.LtE, ast.GtE) and step is not None:
        needed = value + (step if relation is ast.LtE else -step)
        if is_written:  # the least value that would do is seldom the one that is wanted
            yield pair(origin, relation, repr(value))._replace(trial=needed)
        else:
            yield set_to(origin, repr(float(needed) if origin.annotation == "float" else needed))
    elif relation is ast.NotIn and isinstance(value, (list, tuple, set, frozenset, dict)) and value:
        plain = all(isinstance(one, (str, int, float)) for one in value)
        meant = nearest(given, list(value)) if plain and isinstance(given, (str, int, float)) else UNKNOWN
        if meant is not UNKNOWN:
            yield set_to(origin, repr(meant))
        else:
            yield Remedy("do-one-of", (("x", origin.name), ("y", choices(given, list(value)))), f"{origin.name}=...")
    elif relation in (ast.Eq, ast.Is, ast.In):
        default = literal(origin.default)
        taken = list(value) if relation is ast.In and isinstance(value, (list, tuple, set)) else [value]
        if isinstance(value, bool):
            yield set_to(origin, repr(not value))
        elif default is not UNKNOWN and default is not None and default not in taken:
            yield set_to(origin, repr(default))
        else:
            yield Remedy("do-other", (("x", origin.name), ("y", repr(value))), None)


def _summed(node: ast.expr) -> ast.expr | None:
    """``x`` of ``sum(x)`` or ``len(x)``."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("sum", "len")
    if is_call and len(node.args) == 1 and isinstance(node.args[0], (ast.Name, ast.Attribute)):  # type: ignore[attr-defined]
        return cast("ast.expr", node.args[0])  # type: ignore[attr-defined]
    return None
