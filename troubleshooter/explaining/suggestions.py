"""The suggestions for one place, the best first: what the message says to do, then what keeps the condition from holding."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from troubleshooter.explaining import advice
from troubleshooter.explaining.conditions import Atom, Formula, atoms
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
    """What keeps a condition from holding, what its nearest part tells first; each was checked against the whole of it.

    The conditions around the nearest part often only say that a feature, or a safety check, is on. They count for an argument
    that the message or the nearest part speaks of.
    """
    parts: list[Formula | Atom] = [Formula("and", tuple(near))] if len(near) > 1 else [*near]
    found = [remedy for part in parts for remedy in remedies(part, origins, values)]
    spoken = {one.name for part in parts for atom in atoms(part) for one in origins(atom.expression)}
    for part in around:
        for remedy in remedies(part, origins, values):
            if remedy.subject in spoken or _names(message, remedy.subject):
                found.append(remedy)
    found = [one for one in found if one.key != "do-install" or _names(message, one.subject)]
    return checked(_sharpest(found), Formula("and", (*near, *around)), values, subjects)


def named(
    message: str, known: dict[str, object], condition: Formula, values: Values, subjects: Subjects
) -> Iterator[Remedy]:
    """What a message itself says to do, without what would leave the condition true. ``known``: the values of arguments."""
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


def _names(message: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", message, re.IGNORECASE) is not None
