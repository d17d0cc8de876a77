"""Finds the known name that a mistyped one stands for. Every "did you mean" comes from here."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 65
"""A name is suggested if its likeness (0 to 100) is at least this: ``lst`` and ``list`` have 86, unrelated ids about
50."""


def nearest(name: str, known: Iterable[str], limit: int = 1) -> list[str]:
    """At most ``limit`` of the known names, the most similar first; an empty list if none is similar enough."""
    from rapidfuzz import fuzz, process  # slow to import; only a mistake pays for it (docs/decisions/0003)

    found = process.extract(
        name, list(known), scorer=fuzz.ratio, processor=str.lower, score_cutoff=ALIKE, limit=limit
    )  # fmt: skip
    return [match[0] for match in found]


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """A question that names the most similar known name, or ``otherwise`` if none is similar enough."""
    found = nearest(name, known)
    return f"did you mean {found[0]}?" if found else otherwise
