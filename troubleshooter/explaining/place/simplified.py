"""A condition of several branches in fewer words: the parts that must all have been true, where they say the whole."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import product

from troubleshooter.explaining.place.conditions import Atom, Formula, atoms

MAX_PARTS = 4
"""Different questions of one condition that are tried in all combinations."""
_NEGATED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.IsNot: ast.Is, ast.NotEq: ast.Eq, ast.NotIn: ast.In}


def simplified(parts: Sequence[Formula | Atom]) -> list[Formula | Atom]:
    """``not (a and b)`` and ``not (a and not b)`` together say ``not a``. The parts as they are where nothing is said shorter."""
    whole = Formula("and", tuple(parts))
    if not any(map(_has_or, parts)):
        return list(parts)
    asked = {_question(atom)[0]: atom for atom in atoms(whole)}
    if len(asked) > MAX_PARTS:
        return list(parts)
    ways = []
    for values in product((True, False), repeat=len(asked)):
        way = dict(zip(asked, values, strict=True))
        if _is_true(whole, way):
            ways.append(way)
    fixed = {name: ways[0][name] for name in asked if ways and len({way[name] for way in ways}) == 1}
    if not fixed or len(ways) != 2 ** (len(asked) - len(fixed)):  # the rest is not free
        return list(parts)
    return [Atom(asked[name].expression, value == _question(asked[name])[1]) for name, value in fixed.items()]


def _has_or(what: Formula | Atom) -> bool:
    return isinstance(what, Formula) and (what.kind == "or" or any(map(_has_or, what.parts)))


def _question(atom: Atom) -> tuple[str, bool]:
    """What a part asks, without a negation, and whether the part itself asks it so."""
    node = atom.expression
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _NEGATED:
        return ast.unparse(ast.Compare(node.left, [_NEGATED[type(node.ops[0])]()], node.comparators)), False
    return ast.unparse(node), True


def _is_true(what: Formula | Atom, way: dict[str, bool]) -> bool:
    if isinstance(what, Atom):
        name, straight = _question(what)
        return (way[name] == straight) is what.holds
    several = (_is_true(part, way) for part in what.parts)
    return all(several) if what.kind == "and" else any(several)
