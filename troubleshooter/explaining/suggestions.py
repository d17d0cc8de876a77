"""The suggestions for one place, the best first: what the message says to do, then what makes the condition false."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from troubleshooter.explaining import advice
from troubleshooter.explaining.conditions import Atom, Formula, atoms, comparison, is_none
from troubleshooter.explaining.holding import Subjects, Values, checked, refuted
from troubleshooter.explaining.origins import Origins
from troubleshooter.explaining.remedies import remedies
from troubleshooter.explaining.remedy import UNKNOWN, Remedy


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
            if remedy.subject in spoken or _names(message, remedy.subject):
                found.append(remedy)
    condition = Formula("and", (*near, *around))
    found = [one for one in found if _is_meant(one, condition, message, origins)]
    return checked(_sharpest(found), condition, values, subjects)


def named(
    message: str, known: dict[str, object], condition: Formula, values: Values, subjects: Subjects
) -> Iterator[Remedy]:
    """What a message itself says to do, except where that leaves the condition true. ``known``: the values of arguments."""
    for remedy in (*advice.settings(message, known), *advice.commands(message)):
        if not refuted(remedy, condition, values, subjects):
            yield remedy


def by_message(several: Sequence[Remedy], message: str) -> list[Remedy]:
    """What a message wants first, and last what it speaks against: "pass only `a`" is against leaving `a` out."""
    wanted = advice.wanted(message)

    def against(remedy: Remedy) -> int:
        stance = wanted.get(remedy.subject)
        takes_away = remedy.value is None or remedy.value is False
        return 0 if stance is None or remedy.value is UNKNOWN else 1 if stance == takes_away else -1

    return sorted(several, key=against)


def _sharpest(several: Sequence[Remedy]) -> list[Remedy]:
    """Of each argument, what gives it a value or a class rather than what leaves it out."""
    valued = {one.subject for one in several if one.key == "do-set"}
    formed = {one.subject for one in several if one.key in ("do-class", "do-one-of")}
    kept = [one for one in several if one.key not in ("do-leave", "do-pass") or one.subject not in valued]
    return sorted(kept, key=lambda one: one.key == "do-leave" and one.subject in formed)


def _is_meant(remedy: Remedy, condition: Formula, message: str, origins: Origins) -> bool:
    """Whether a suggestion that would do is also one that a user wants: not one that drops what was asked for, or a check."""
    if remedy.key == "do-install":
        name = re.escape(remedy.subject).replace("\\-", "[-_]")
        return (
            re.search(
                rf"(?i)install[^.]{{0,20}}\b{name}|\b{name}\b[^.]{{0,20}}(?:install|available|package|library)", message
            )
            is not None
        )
    if remedy.key == "do-set" and _CHECKS.match(remedy.subject):
        return _names(message, remedy.subject)
    if remedy.key != "do-leave" or not isinstance(remedy.part, ast.Compare) or len(list(atoms(condition))) == 1:
        return True
    others = (atom for atom in atoms(condition) if atom.expression is not remedy.part and _is_given(atom))
    return _AGAINST.search(message) is not None or any(
        one.name != remedy.subject and one.exact for atom in others for one in origins(atom.expression)
    )


_CHECKS = re.compile(r"(?:un)?safe|strict|check|verif|valid|raise|force|ignore|allow|trust|enforce|fail")
"""How switches begin that turn a check off."""
_AGAINST = re.compile(
    r"(?i)\b(?:not (?:\w+ ){0,2}(?:supported|allowed|compatible|used|work|meaningful)|unsupported|only supported|can(?:not|'t)|incompatible|exclusive|together"
    r"|both|only one|either|already|instead|remove|unset|deprecated|without|neither)\b"
)
"""Words of a message that speaks against something being there."""


def _is_given(atom: Atom) -> bool:
    """Whether a part says that something is there: given, set, or of a value."""
    found = comparison(atom)
    if found is None:
        return atom.holds and isinstance(atom.expression, (ast.Name, ast.Attribute))
    return found[1] in (ast.IsNot, ast.NotEq) if is_none(found[2]) else found[1] is ast.Eq


def _names(message: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", message, re.IGNORECASE) is not None
