"""What would have kept a condition from holding: which argument to set to what, to leave out, or to pair with which.

A suggestion is derived, not known: ``basis`` says from what. None is made where the condition does not tell a value.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from troubleshooter.explaining.divisors import largest_divisor
from troubleshooter.explaining.making import give, is_asked, is_plain, leave_out, set_to, settable, without_self
from troubleshooter.explaining.origin import Origin, Origins
from troubleshooter.explaining.place.comparisons import compared
from troubleshooter.explaining.place.conditions import Atom, Formula, comparison, instance, remainder
from troubleshooter.explaining.place.holding import Values, holds
from troubleshooter.explaining.remedy import MAX_CHOICES, UNKNOWN, Remedy, choices, literal

_TURNS: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "str": str, "bool": bool}
_MADE = {"ndarray": "np.asarray", "Tensor": "torch.as_tensor"}
"""How an object of a class is made of something like it, where that is not by calling the class."""


def remedies(what: Formula | Atom, origins: Origins, constant: Values) -> Iterator[Remedy]:
    """Ways to make a condition false, each with the part that it changes. ``constant``: the value of an expression."""
    if isinstance(what, Formula) and what.kind == "or":
        # All parts would have to be false; those that are known to be false already need nothing.
        left = [part for part in what.parts if holds(part, constant) is not False]
        if (within := _within(what, origins)) is not None:
            yield within
            left = [one for one in left if not isinstance(one, Atom) or _bound(one) is None]
        for part in left:
            yield from remedies(part, origins, constant)
    elif isinstance(what, Atom):
        for remedy in _of(what, origins, constant):
            yield remedy._replace(part=what.expression)
    else:
        found = [list(remedies(part, origins, constant)) for part in what.parts]
        # Of several parts, one that speaks of what the user passed himself comes first.
        for several in sorted(found, key=lambda some: -max((_worth(one) for one in some), default=0)):
            yield from several


def _within(what: Formula, origins: Origins) -> Remedy | None:
    """The range of an argument that is neither to be below a number nor above another: ``x < 0 or x > 1``."""
    bounds = [(part, bound) for part in what.parts if isinstance(part, Atom) and (bound := _bound(part)) is not None]
    low = [one for one in bounds if one[1][1] in (ast.Lt, ast.LtE)]
    high = [one for one in bounds if one[1][1] in (ast.Gt, ast.GtE)]
    if len(low) != 1 or len(high) != 1 or low[0][1][0] != high[0][1][0]:
        return None
    part, (_, below, least) = low[0]
    _, (_, above, most) = high[0]
    assert isinstance(part.expression, ast.Compare)
    for origin in settable(origins(part.expression.left))[:1]:
        needed = f"{least} {'<=' if below is ast.Lt else '<'} {origin.name} {'<=' if above is ast.Gt else '<'} {most}"
        middle = (literal(least) + literal(most)) / 2
        told = (("x", origin.name), ("y", needed))
        return Remedy("do-pair", told, f"{origin.name}=...", part=part.expression, trial=middle)
    return None


def _bound(atom: Atom) -> tuple[str, type[ast.cmpop], str] | None:
    """Name, relation and number of a comparison with a number."""
    found = comparison(atom)
    number = literal(ast.unparse(found[2])) if found is not None else UNKNOWN
    if found is None or not isinstance(number, (int, float)) or not is_plain(found[0]):
        return None
    return ast.unparse(found[0]), found[1], ast.unparse(found[2])


def of_class(atom: Atom, origins: Origins) -> Iterator[Remedy]:
    """A number in place of what a message shows as one and a check of the class refuses: it is a text, or has another class."""
    asked = instance(atom)
    if asked is None or atom.holds or asked[1][0] not in ("int", "float"):
        return
    for origin in settable(origins(asked[0]))[:1]:
        told = (("x", origin.name), ("y", " / ".join(asked[1])))
        yield Remedy("do-class", told, f"{origin.name}={asked[1][0]}(...)", part=atom.expression)


def _worth(remedy: Remedy) -> int:
    return {"do-set": 3, "do-leave": 3, "do-pass": 2, "do-class": 2, "do-lengths": 2}.get(remedy.key, 1)


def _of(atom: Atom, origins: Origins, constant: Values) -> Iterator[Remedy]:
    if pair := remainder(atom):
        yield from _divisible(*pair, origins, constant)
    elif asked := instance(atom):
        people = origins(asked[0])
        for origin in settable(people)[:1]:
            yield from _class(origin, asked[1], atom.holds)
        if len(people) == 1 and people[0].each and not atom.holds and settable([people[0]._replace(exact=True)]):
            value = people[0].value or ""
            if people[0].passed and value.startswith("{") and ":" in value and "dict" not in asked[1]:
                yield set_to(people[0], f"list({value}.values())")  # a loop over a dictionary has its keys
            else:
                yield Remedy(
                    "do-class-each", (("x", people[0].name), ("y", " / ".join(asked[1]))), f"{people[0].name}=..."
                )
    elif found := comparison(atom):
        yield from compared(*found, origins, constant)
    elif isinstance(atom.expression, (ast.Name, ast.Attribute, ast.Subscript)) or is_asked(atom.expression):
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
                yield set_to(origin, f"[{origin.value}]")
    elif (lack := _lacking(atom)) is not None:
        yield from _only_in(*lack, origins, constant)
    elif (both := _subset(atom)) is not None:
        for origin in settable(origins(both[1]))[:1]:
            yield from _superset(origin, *(literal(one.value) for one in (*origins(both[0])[:1], origin)))
    elif (path := _path(atom)) is not None:
        for origin in sorted(settable(origins(path)), key=lambda one: one.passed is not True)[:1]:
            yield Remedy("do-exists", (("x", origin.name),), f"{origin.name}=...")
    elif (package := _available(atom)) is not None:
        yield Remedy("do-install", (("x", package),), f"pip install {package}")


def _divisible(left: ast.expr, right: ast.expr, origins: Origins, constant: Values) -> Iterator[Remedy]:
    whole, part = constant(left), constant(right)
    numbers = isinstance(whole, int) and isinstance(part, int) and whole > 0 and part > 0
    needed = f"{without_self(ast.unparse(left))} % {without_self(ast.unparse(right))} == 0"
    for origin in settable(origins(right))[:1] if is_plain(right) else ():
        if numbers:
            is_given = is_plain(left) and settable(origins(left))
            if not is_given and 1 in (whole % part, part - whole % part):
                continue  # a size of data that is one off, as by a shift of labels or a special token: the divisor is right
            if (good := largest_divisor(whole, part)) is not None:
                yield set_to(origin, str(good))
        elif whole is UNKNOWN and origin.passed:
            yield Remedy("do-pair", (("x", origin.name), ("y", needed)), f"{origin.name}=...")
    for origin in settable(origins(left))[:1] if is_plain(left) else ():
        if isinstance(part, int) and part > 0:
            near = whole + part - whole % part if isinstance(whole, int) else part
            yield set_to(origin, str(near))
        elif part is UNKNOWN:
            yield Remedy("do-pair", (("x", origin.name), ("y", needed)), f"{origin.name}=...")


def _class(origin: Origin, classes: list[str], is_one: bool) -> Iterator[Remedy]:
    value = literal(origin.value)
    if not is_one and classes[0] in ("int", "float") and isinstance(value, str):
        number = literal(value)
        if isinstance(number, (int, float)) and not isinstance(number, bool):
            yield set_to(origin, repr(number))
            return
    if not is_one:
        code = f"{origin.name}={_MADE.get(classes[0], classes[0])}(...)"
        if classes[0] in ("int", "float") and isinstance(value, (int, float)):
            if classes[0] == "int" and isinstance(value, float) and value.is_integer():
                yield set_to(origin, repr(int(value)))
            return  # the same number in another type is seldom what is missing
        if classes[0] in ("int", "float", "str", "bool") and origin.value:
            code = f"{origin.name}={classes[0]}({origin.value})"
        elif classes[0] in ("list", "tuple") and origin.value:
            code = f"{origin.name}=[{origin.value}]"
        trial = UNKNOWN
        if classes[0] in _TURNS and value is not UNKNOWN:
            with suppress(ValueError, TypeError):
                trial = _TURNS[classes[0]](value)
        yield Remedy("do-class", (("x", origin.name), ("y", " / ".join(classes))), code, trial=trial)
    elif "str" in classes and value is not UNKNOWN:
        yield set_to(origin, repr([value]))
    elif classes == ["str"] and "list" in (origin.annotation or "").lower():
        yield Remedy("do-class", (("x", origin.name), ("y", "list")), f"{origin.name}=[...]")
    elif origin.default == "None":
        yield leave_out(origin)


def _switched(origin: Origin, is_set: bool) -> Iterator[Remedy]:
    about = f"{origin.annotation} {origin.default} {origin.value}"
    is_switch = "bool" in about or "True" in about or "False" in about
    if is_switch:
        yield set_to(origin, "False" if is_set else "True")
    else:
        yield leave_out(origin) if is_set else give(origin)


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


def _lacking(atom: Atom) -> tuple[ast.expr, ast.expr] | None:
    """``x, y`` of ``any(one not in y for one in x)``."""
    node = atom.expression
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "any" and atom.holds and node.args):
        return None
    each = node.args[0]
    if not isinstance(each, (ast.GeneratorExp, ast.ListComp)) or len(each.generators) != 1:
        return None
    loop, asked = each.generators[0], each.elt
    is_lack = isinstance(asked, ast.Compare) and len(asked.ops) == 1 and isinstance(asked.ops[0], ast.NotIn)
    if not is_lack or loop.ifs or ast.unparse(asked.left) != ast.unparse(loop.target):  # type: ignore[attr-defined]
        return None
    return loop.iter, asked.comparators[0]  # type: ignore[attr-defined]


def _only_in(several: ast.expr, whole: ast.expr, origins: Origins, constant: Values) -> Iterator[Remedy]:
    """That a list of the user's own may hold only what another thing has."""
    allowed = constant(whole)
    known = isinstance(allowed, (list, tuple, set, dict)) and 0 < len(allowed) <= MAX_CHOICES
    for origin in [one for one in settable(origins(several)) if one.passed][:1]:
        told = choices(UNKNOWN, list(allowed)) if known else f"`{without_self(ast.unparse(whole))}`"
        yield Remedy("do-only-in", (("x", origin.name), ("y", told)), f"{origin.name}=...")


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
        yield set_to(origin, repr([*whole, *(one for one in part if one not in whole)]))


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
