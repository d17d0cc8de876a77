"""Conditions about how many of several arguments are given: exactly one, at most one, at least one.

Which of them is wanted is not known, so all of them are named and none is dropped for the user.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kb import lazy
from troubleshooter.explaining.making import settable
from troubleshooter.explaining.message import advice
from troubleshooter.explaining.origin import Origins
from troubleshooter.explaining.place.conditions import Atom, Formula, comparison, is_none
from troubleshooter.explaining.remedy import Remedy

_NOT_BOTH = lazy.compile(
    r"(?i)\b(?:not both|only one|exactly one|at most one|mutually exclusive|cannot (?:be )?(?:\w+ ){1,3}both|either\b.{1,80}\bor\b.{1,80}\bnot both)"
)
"""Words of a message that says that two things exclude each other, and neither is the wrong one."""
_MUST: dict[tuple[type[ast.cmpop], int], str] = {
    (ast.NotEq, 1): "do-exactly-one", (ast.Gt, 1): "do-at-most-one", (ast.GtE, 2): "do-at-most-one",
    (ast.Eq, 0): "do-at-least-one", (ast.Lt, 1): "do-at-least-one", (ast.LtE, 0): "do-at-least-one",
}  # fmt: skip
"""For a number of given arguments that must not be, what must be."""


def exclusive(parts: Sequence[Formula | Atom], origins: Origins, message: str) -> Iterator[Remedy]:
    """The suggestion for a condition that counts arguments; nothing where one of them is not the user's to set."""
    together = _all_given([part for part in parts if isinstance(part, Atom)] or _parts(parts))
    ways = [_both_or_none(part) or _counted(part) for part in parts]
    if together and _NOT_BOTH.search(message) and not advice.wanted(message).keys() & set(map(_last, together)):
        ways.append(("do-at-most-one", together))
    for found in ways:
        if found is None:
            continue
        people = [origins(node) for node in found[1]]
        if not all(len(one) == 1 and settable(one) for one in people):
            continue
        names = list(dict.fromkeys(one[0].name for one in people))
        if len(names) > 1:
            missing = all(one[0].value == "None" for one in people)
            code = f"{names[0]}=..." if missing and found[0] != "do-at-most-one" else None
            yield Remedy(found[0], (("x", names[0]), ("y", ", ".join(f"`{name}`" for name in names))), code)


def _parts(parts: Sequence[Formula | Atom]) -> list[Atom]:
    """The parts of a condition that is one ``and``."""
    only = parts[0] if len(parts) == 1 else None
    if not isinstance(only, Formula) or only.kind != "and":
        return []
    return [part for part in only.parts if isinstance(part, Atom)] if len(only.parts) == 2 else []


def _all_given(several: Sequence[Atom]) -> list[ast.expr]:
    """What two parts say is given, both of them."""
    given = [one[0] for atom in several if (one := is_given(atom)) is not None and one[1]]
    return given if len(given) == len(several) == 2 else []


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def _both_or_none(part: Formula | Atom) -> tuple[str, list[ast.expr]] | None:
    """``(a is None) == (b is None)``: all of them were given, or none was."""
    if not isinstance(part, Formula) or part.kind != "or" or len(part.parts) != 2:
        return None
    ways = []
    for way in part.parts:
        if not isinstance(way, Formula) or way.kind != "and":
            return None
        given = [is_given(atom) for atom in way.parts if isinstance(atom, Atom)]
        if len(given) != len(way.parts) or None in given:
            return None
        ways.append({ast.unparse(one[0]): one for one in given if one is not None})
    states = [{one[1] for one in way.values()} for way in ways]
    if ways[0].keys() == ways[1].keys() and sorted(map(len, states)) == [1, 1] and states[0] != states[1]:
        return "do-exactly-one", [one[0] for one in ways[0].values()]
    return None


def is_given(atom: Atom) -> tuple[ast.expr, bool] | None:
    """What a part asks whether it is given, and whether it was."""
    found = comparison(atom)
    if found is not None:
        is_asked = is_none(found[2]) and found[1] in (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)
        return (found[0], found[1] in (ast.IsNot, ast.NotEq)) if is_asked else None
    return (atom.expression, atom.holds) if isinstance(atom.expression, (ast.Name, ast.Attribute)) else None


def _counted(part: Formula | Atom) -> tuple[str, list[ast.expr]] | None:
    """``sum(x is not None for x in (a, b)) != 1``, ``[a, b].count(None) != 1``."""
    found = comparison(part) if isinstance(part, Atom) else None
    if found is None or not isinstance(found[0], ast.Call) or not isinstance(found[2], ast.Constant):
        return None
    call, (relation, number) = found[0], found[1:]
    if not isinstance(number, ast.Constant) or not isinstance(number.value, int):
        return None
    several = _summed(call)
    if several and (must := _MUST.get((relation, number.value))):
        return must, several
    if isinstance(call.func, ast.Attribute) and call.func.attr == "count" and call.args and is_none(call.args[0]):
        listed = call.func.value.elts if isinstance(call.func.value, (ast.List, ast.Tuple)) else []
        if relation is ast.NotEq and number.value == len(listed) - 1:
            return "do-exactly-one", listed
    return None


def _summed(call: ast.Call) -> list[ast.expr]:
    """``a, b`` of ``sum(x is not None for x in (a, b))`` and ``sum([a is not None, b is not None])``."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "sum" and len(call.args) == 1):
        return []
    inner = call.args[0]
    if isinstance(inner, (ast.GeneratorExp, ast.ListComp)) and len(inner.generators) == 1:
        loop = inner.generators[0]
        asked = _asked(inner.elt)
        same = asked is not None and not loop.ifs and ast.unparse(asked) == ast.unparse(loop.target)
        return loop.iter.elts if same and isinstance(loop.iter, (ast.List, ast.Tuple, ast.Set)) else []
    parts = [_asked(one) for one in inner.elts] if isinstance(inner, (ast.List, ast.Tuple)) else []
    return [one for one in parts if one is not None] if parts and None not in parts else []


def _asked(node: ast.expr) -> ast.expr | None:
    """``x`` of ``x is not None`` and ``bool(x)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("bool", "int") and node.args:
        return _asked(node.args[0]) or node.args[0]
    found = comparison(Atom(node, holds=True))
    return found[0] if found and found[1] in (ast.IsNot, ast.NotEq) and is_none(found[2]) else None
