"""The condition under which a place was reached, taken apart into what was true and what was not, and said in words."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from kb.index.place import Guard, MessagePlace
from troubleshooter.explaining.words import say

MAX_AROUND = 2
"""Conditions around the nearest one that are told, too."""
MAX_CODE = 120
"""Characters of a condition that is shown as it is written."""


class Atom(NamedTuple):
    """A part of a condition without ``and``, ``or``, ``not``, and whether it was true."""

    expression: ast.expr
    holds: bool


class Formula(NamedTuple):
    """Parts that were all true (``and``), or of which at least one was (``or``)."""

    kind: Literal["and", "or"]
    parts: tuple[Formula | Atom, ...]


def formula(condition: str, holds: bool) -> Formula | Atom | None:
    """A condition as the index has it; None where it is no expression (a loop, a caught exception, a cut text)."""
    try:
        tree = ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _apart(tree, holds)


def atoms(what: Formula | Atom) -> Iterator[Atom]:
    """All parts of a condition, in its order."""
    if isinstance(what, Atom):
        yield what
    else:
        for part in what.parts:
            yield from atoms(part)


def reasons(place: MessagePlace) -> tuple[list[Formula | Atom], list[Formula | Atom]]:
    """What had to hold for a place: the nearest condition (with the branches before it that were not taken), and those around."""
    guards = [guard for guard in place.guards if not guard.stale and guard.kind in _TELLING]
    near: list[Guard] = []
    while guards:
        guard = guards.pop()
        if guard.kind == "early" and near:
            break
        near.append(guard)
        # An `else` belongs to the branch that was taken instead.
        if guard.kind in ("early", "assert", "check", "case") or not guards or guards[-1].kind != "else":
            break
        if guard.kind == "if" and formula(guard.condition, True) is not None:
            break
    around = [guard for guard in guards if guard.kind in ("if", "case")][-MAX_AROUND:]
    return _formulas(near), _formulas(list(reversed(around)))


def is_caught(place: MessagePlace) -> bool:
    """Whether a place passes on what it caught: then the conditions around it are not why it was reached."""
    inner = next((guard for guard in reversed(place.guards) if guard.kind not in ("try", "for")), None)
    return inner is not None and inner.kind == "except"


def passes_on(place: MessagePlace) -> bool:
    """Whether a place stands inside of an ``except``, so that what was caught is the reason."""
    return any(guard.kind == "except" for guard in place.guards)


def words(what: Formula | Atom, name: Callable[[ast.expr], str], lang: str) -> str:
    """A condition in words. ``name``: how a name in it is called."""
    if isinstance(what, Atom):
        return _atom(what, name, lang)
    parts = [words(part, name, lang) for part in what.parts]
    nested = [
        f"({text})" if isinstance(part, Formula) and len(what.parts) > 1 else text
        for part, text in zip(what.parts, parts, strict=True)
    ]
    return say(what.kind, lang).join(dict.fromkeys(nested))


_TELLING = frozenset(("if", "else", "early", "assert", "check", "while"))


def _formulas(guards: Sequence[Guard]) -> list[Formula | Atom]:
    found = [formula(guard.condition, guard.holds) for guard in guards]
    return [one for one in found if one is not None]


def _apart(node: ast.expr, holds: bool) -> Formula | Atom:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _apart(node.operand, not holds)
    if isinstance(node, ast.BoolOp):
        both = isinstance(node.op, ast.And) == holds
        return Formula("and" if both else "or", tuple(_apart(part, holds) for part in node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor):
        sides = (node.left, node.right)
        if all(
            isinstance(side, (ast.Compare, ast.Call, ast.UnaryOp)) for side in sides
        ):  # others may be bits of numbers
            return _exclusive(sides, holds)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        sides = (node.left, node.comparators[0])
        if all(isinstance(side, ast.Compare) for side in sides):  # `(a is None) != (b is None)`: exactly one of both
            return _exclusive(sides, holds == isinstance(node.ops[0], ast.NotEq))
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        lefts = [node.left, *node.comparators[:-1]]
        parts = [
            ast.Compare(left, [op], [right]) for left, op, right in zip(lefts, node.ops, node.comparators, strict=True)
        ]
        return Formula("and" if holds else "or", tuple(Atom(part, holds) for part in parts))
    return Atom(node, holds)


def _exclusive(sides: tuple[ast.expr, ast.expr], holds: bool) -> Formula:
    """That exactly one of both is true (``holds``), or none or both."""
    ways = [Formula("and", (_apart(sides[0], one), _apart(sides[1], one != holds))) for one in (True, False)]
    return Formula("or", tuple(ways))


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_WORD: dict[type[ast.cmpop], str] = {
    ast.Eq: "is", ast.NotEq: "is-not", ast.Lt: "less", ast.LtE: "at-most", ast.Gt: "more", ast.GtE: "at-least",
    ast.Is: "is", ast.IsNot: "is-not", ast.In: "in", ast.NotIn: "not-in",
}  # fmt: skip


def comparison(atom: Atom) -> tuple[ast.expr, type[ast.cmpop], ast.expr] | None:
    """Both sides of a comparison and the relation that really held between them."""
    node = atom.expression
    if not isinstance(node, ast.Compare):
        return None
    relation = type(node.ops[0])
    return node.left, relation if atom.holds else _OPPOSITE[relation], node.comparators[0]


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def remainder(atom: Atom) -> tuple[ast.expr, ast.expr] | None:
    """``a, b`` where ``a % b`` is not 0."""
    compared = comparison(atom)
    node = compared[0] if compared else atom.expression
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mod):
        return None
    if compared is None:
        return (node.left, node.right) if atom.holds else None
    zero = isinstance(compared[2], ast.Constant) and compared[2].value == 0
    return (node.left, node.right) if zero and compared[1] in (ast.NotEq, ast.Gt) else None


def length(node: ast.expr) -> ast.expr | None:
    """``x`` of ``len(x)``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        return node.args[0]
    return None


def instance(atom: Atom) -> tuple[ast.expr, list[str]] | None:
    """What was asked for its class, and the classes."""
    node = atom.expression
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and len(node.args) == 2
    ):
        classes = node.args[1]
        several = classes.elts if isinstance(classes, ast.Tuple) else [classes]
        return node.args[0], [ast.unparse(one).rpartition(".")[2] for one in several]
    return None


def _atom(atom: Atom, name: Callable[[ast.expr], str], lang: str) -> str:
    if pair := remainder(atom):
        return say("not-multiple", lang, x=name(pair[0]), y=name(pair[1]))
    if found := comparison(atom):
        left, relation, right = found
        if is_none(right):
            return say("is-none" if relation in (ast.Is, ast.Eq) else "not-none", lang, x=name(left))
        if (one := length(left)) is not None:
            if (other := length(right)) is not None and relation is ast.NotEq:
                return say("lengths-differ", lang, x=name(one), y=name(other))
            return say(_WORD[relation], lang, x=f"len({name(one)})", y=name(right))
        return say(_WORD[relation], lang, x=name(left), y=name(right))
    if asked := instance(atom):
        return say("instance" if atom.holds else "not-instance", lang, x=name(asked[0]), y=" / ".join(asked[1]))
    if isinstance(atom.expression, (ast.Name, ast.Attribute)):
        return say("set" if atom.holds else "not-set", lang, x=name(atom.expression))
    return say("true" if atom.holds else "false", lang, x=name(atom.expression))
