"""The known names that a mistyped one was meant to be: the one place of "did you mean"."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 65
"""Likeness, of 100, from which on a name is suggested: ``lst`` and ``list`` have 86, unrelated ids about 50."""


def nearest(name: str, known: Iterable[str], limit: int = 1) -> list[str]:
    """At most ``limit`` of the known names, the most alike first; none where nothing is near."""
    from rapidfuzz import fuzz, process  # slow to import; only a mistake pays for it (docs/decisions/0003)

    found = process.extract(
        name, list(known), scorer=fuzz.ratio, processor=str.lower, score_cutoff=ALIKE, limit=limit
    )  # fmt: skip
    return [match[0] for match in found]


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """The question with the nearest known name, or ``otherwise`` where none is near."""
    found = nearest(name, known)
    return f"did you mean {found[0]}?" if found else otherwise
