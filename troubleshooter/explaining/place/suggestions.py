"""The suggestions for one place, the best first: what the message says to do, then what makes the condition false."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence

from kb.index.place import MessagePlace
from troubleshooter.explaining.message import advice, instructions
from troubleshooter.explaining.message.named import names
from troubleshooter.explaining.origin import Origins
from troubleshooter.explaining.place.comparisons import is_member
from troubleshooter.explaining.place.conditions import Atom, Formula, atoms, is_caught, reasons, remainder
from troubleshooter.explaining.place.holding import Subjects, Values, checked, holds, refuted
from troubleshooter.explaining.place.meant import meant, takes_away
from troubleshooter.explaining.place.remedies import remedies
from troubleshooter.explaining.remedy import MAX_CHOICES, UNKNOWN, Remedy


def derived(
    near: Sequence[Formula | Atom],
    around: Sequence[Formula | Atom],
    message: str,
    origins: Origins,
    values: Values,
    subjects: Subjects,
) -> list[Remedy]:
    """Changes that make the condition of a ``raise`` false. Each was checked against the whole condition.

    ``near``: the parts of the condition next to the ``raise``; their suggestions come first. ``around``: the conditions around
    them. These often say only that a feature or a safety check is on, so they suggest changes only of arguments that the
    message or a near part names.
    """
    parts: list[Formula | Atom] = [Formula("and", tuple(near))] if len(near) > 1 else [*near]
    found = [remedy for part in parts for remedy in remedies(part, origins, values)]
    spoken = {one.name for part in parts for atom in atoms(part) for one in origins(atom.expression)}
    for part in around:
        for remedy in remedies(part, origins, values):
            if remedy.subject in spoken or names(message, remedy.subject):
                found.append(remedy)
    condition = Formula("and", (*near, *around))
    found = meant(_sharpest(_alternatives(_last_said(found, (*around, *reversed(near))))), condition, message, origins)
    return checked(found, condition, values, subjects)


def named(
    message: str, known: dict[str, object], condition: Formula, values: Values, subjects: Subjects
) -> Iterator[Remedy]:
    """What a message itself says to do, except where that leaves the condition true. ``known``: the values of arguments."""
    for remedy in (*advice.settings(message, known), *advice.commands(message)):
        if not refuted(remedy, condition, values, subjects):
            yield remedy


def forbidden(
    remedy: Remedy, condition: Formula, others: Sequence[MessagePlace], values: Values, subjects: Subjects
) -> bool:
    """Whether a suggestion leads to another of the function's checks: that one's condition would hold then, and does not now."""
    if remedy.basis == "message":
        return False
    mine = [atom for atom in atoms(condition) if atom.expression is remedy.part]
    for place in others:
        if place.kind not in ("raise", "assert") or is_caught(place):
            continue
        near, around = reasons(place)
        checks = [atom for one in near for atom in atoms(one)]
        if len(checks) == 1 and any(_is_passed(part, checks[0]) for part in mine):
            return True
        if remedy.value is UNKNOWN:
            continue
        other = Formula("and", (*near, *around))
        if other.parts and refuted(remedy, other, values, subjects) and holds(other, values) is not True:
            return True
    return False


def _is_passed(part: Atom, check: Atom) -> bool:
    """Whether a part of the condition is that another check was passed: ``not (a != b)`` behind the check of ``a != b``."""
    return part.holds is not check.holds and ast.dump(part.expression) == ast.dump(check.expression)


def complete(found: Sequence[Remedy], told: Sequence[Remedy], message: str, passed: Mapping[str, str]) -> list[Remedy]:
    """All suggestions: what the message tells to do stands behind what was derived, but before what drops something.

    Where nothing else is there, the argument that the message refuses, or its own instruction as it stands.
    """
    drops = [one for one in found if one.basis != "message" and takes_away(one)]
    ordered = [*(one for one in found if one not in drops), *told, *drops]
    return ordered or [*instructions.refused(message, passed)] or [*instructions.quoted(message)]


def by_message(several: Sequence[Remedy], message: str) -> list[Remedy]:
    """What a message wants first, and last what it speaks against: "pass only `a`" is against leaving `a` out."""
    wanted = advice.wanted(message)
    several = [_in_range(one, message) for one in several]

    def against(remedy: Remedy) -> int:
        stance = wanted.get(remedy.subject)
        takes_away = remedy.value is None or remedy.value is False
        return 0 if stance is None or remedy.value is UNKNOWN else 1 if stance == takes_away else -1

    return sorted(several, key=against)


_RANGES = (
    (r"(?:greater|larger|bigger|more|higher) than or equal to|greater or equal to|at least|>=", ">="),
    (r"(?:less|smaller|lower) than or equal to|less or equal to|at most|<=", "<="),
    (r"(?:strictly )?(?:greater|larger|bigger|more|higher) than|>", ">"),
    (r"(?:strictly )?(?:less|smaller|lower) than|<", "<"),
)


def _in_range(remedy: Remedy, message: str) -> Remedy:
    """A suggestion to give "another value" with the range that the message tells of the argument."""
    words = "[ _]".join(map(re.escape, remedy.subject.split("_")))
    for pattern, sign in _RANGES if remedy.key == "do-other" else ():
        told = rf"(?i)\b{words}\b[`'\"]? (?:must|should|has to|needs to) be (?:{pattern}) (-?\d+(?:\.\d+)?(?:e-?\d+)?)"
        if found := re.search(told, message):
            needed = f"{remedy.subject} {sign} {found[1]}"
            return remedy._replace(
                key="do-pair", values=(("x", remedy.subject), ("y", needed)), code=f"{remedy.subject}=..."
            )
    return remedy


def _last_said(several: Sequence[Remedy], parts: Sequence[Formula | Atom]) -> list[Remedy]:
    """Without what an earlier part tells of an argument that a later part tells more of: ``a > 0 and a % b`` is about ``a % b``.

    ``parts``: in the order in which they were asked.
    """
    order = {id(part.expression): at for at, part in enumerate(_together(Formula("and", tuple(parts))))}
    # What has to divide what is told by no other comparison.
    order |= {id(one.part): len(order) for one in several if one.part is not None and _is_division(one.part)}
    last: dict[str, int] = {}
    for one in several:
        if one.key in ("do-set", "do-pair", "do-one-of") and id(one.part) in order and not _is_equality(one):
            last[one.subject] = max(last.get(one.subject, -1), order[id(one.part)])
    divided = {one.subject for one in several if one.part is not None and _is_division(one.part)}
    kept = [
        one
        for one in several
        if one.key != "do-pair" or one.subject not in divided or (one.part is not None and _is_division(one.part))
    ]
    return [
        one
        for one in kept
        if one.key not in ("do-set", "do-leave") or order.get(id(one.part), len(order)) >= last.get(one.subject, -1)
    ]


def _together(what: Formula | Atom) -> Iterator[Atom]:
    """The parts of a condition that were all true."""
    if isinstance(what, Atom):
        yield what
    elif what.kind == "and":
        for part in what.parts:
            yield from _together(part)


def _is_division(part: ast.expr) -> bool:
    return remainder(Atom(part, holds=True)) is not None


def _is_equality(remedy: Remedy) -> bool:
    part = remedy.part
    if remedy.key != "do-set" or not isinstance(part, ast.Compare) or not isinstance(part.ops[0], (ast.Eq, ast.NotEq)):
        return False
    other = part.comparators[0]
    is_one = isinstance(other, ast.Constant) or is_member(other)
    return isinstance(part.left, (ast.Name, ast.Attribute)) and is_one


def _alternatives(several: Sequence[Remedy]) -> list[Remedy]:
    """One suggestion that names all values where each of several parts asks an argument for another value."""
    out: list[Remedy] = []
    for one in several:
        same = [other for other in several if _is_equality(other) and other.subject == one.subject]
        values = list(dict.fromkeys(dict(other.values)["y"] for other in same))
        if not _is_equality(one) or len(values) < 2:
            out.append(one)
        elif one is same[0]:
            told = (
                ("x", one.subject),
                ("y", ", ".join(values[:MAX_CHOICES]) + (", …" if len(values) > MAX_CHOICES else "")),
            )
            out.append(one._replace(key="do-one-of", values=told, code=f"{one.subject}=..."))
    return out


def _sharpest(several: Sequence[Remedy]) -> list[Remedy]:
    """Of each argument, what gives it a value or a class rather than what leaves it out."""
    valued = {one.subject for one in several if one.key == "do-set"}
    formed = {one.subject for one in several if one.key in ("do-class", "do-one-of")}
    told = {one.subject for one in several if one.key in ("do-set", "do-pair", "do-one-of")}
    kept = [one for one in several if one.key not in ("do-leave", "do-pass") or one.subject not in valued]
    kept = [one for one in kept if one.key != "do-other" or one.subject not in told]
    return sorted(kept, key=lambda one: one.key == "do-leave" and one.subject in formed)
