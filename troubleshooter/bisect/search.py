"""The searches: where along a row of releases the outcome changes, and which changes together make it.

Both only ask `Trials`; they know nothing of packages or programs, and never name a place that was not tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from troubleshooter.bisect.trials import Outcome

__all__ = ["Boundary", "between", "gallop", "minimal"]

Ask = Callable[[int], Outcome]
"""The outcome at a position of the row."""

HINT, LIKELY = 30.0, 5.0
"""How much more a hinted place weighs than a usual one, and a likely one (the first release of a series)."""
GALLOP: Final = 4
"""By how much each step of a gallop is longer than the one before."""
MOST_INSIDE: Final = 6
"""Positions that are tried between the last failing one and those that gave no answer."""


class Boundary(NamedTuple):
    """Where the outcome changes: at ``first`` it is the one looked for, at ``last`` still the other one.

    ``untold`` are the positions between them that could not be judged; where there are some, any of them may be it.
    """

    last: int
    first: int
    untold: tuple[int, ...] = ()


def between(
    low: int, high: int, ask: Ask, wanted: Outcome, hints: Sequence[int] = (), likely: Sequence[int] = ()
) -> Boundary:
    """The boundary in a row whose position ``low`` has another outcome than ``wanted`` and whose ``high`` has it.

    ``low`` may stand right of ``high``: then it is the boundary seen from the right. ``hints`` are positions at which the
    change is known to be likely to have come, ``likely`` those where changes come in general. Each step asks the position that halves what is left by weight.
    """
    step = 1 if high > low else -1
    skipped: set[int] = set()
    while True:
        open_ = [at for at in range(low + step, high, step) if at not in skipped]
        if not open_:
            return Boundary(low, high, tuple(sorted(skipped & set(range(low + step, high, step)))))
        at = _middle(low, high, step, open_, hints, likely)
        outcome = ask(at)
        if outcome == "skip":
            skipped.add(at)
        elif outcome == wanted:
            high = at
        else:
            low = at


def _middle(low: int, high: int, step: int, open_: Sequence[int], hints: Sequence[int], likely: Sequence[int]) -> int:
    """The position whose answer halves the weight of the places where the change can be."""
    places = range(low + step, high + step, step)  # the change came with one of these
    weights = [HINT if place in hints else LIKELY if place in likely else 1.0 for place in places]
    half, total, middle = sum(weights) / 2, 0.0, low + step
    best = float("inf")
    for place, weight in zip(places, weights, strict=True):
        total += weight  # the weight of the places up to this one, which a wanted outcome here would leave
        if place != high and abs(total - half) < best:
            best, middle = abs(total - half), place
    return min(open_, key=lambda at: abs(at - middle))


def gallop(start: int, end: int, ask: Ask, wanted: Outcome, hints: Sequence[int] = ()) -> int | None:
    """A position from ``start`` towards ``end`` (both excluded and included) whose outcome is ``wanted``; None if none is.

    Positions right before a hint come first, then steps of 1, 4, 16 …; the end is always asked. Where none of these gives
    the answer but some give none at all (old releases that do not run here), positions nearer to the start are tried.
    """
    step = 1 if end > start else -1
    inside = list(range(start + step, end + step, step))
    distance, later = 1, []
    while distance < len(inside):
        later.append(inside[distance - 1])
        distance *= GALLOP
    other = start
    for at in dict.fromkeys([*(at for at in inside if at in hints), *later, *inside[-1:]]):
        outcome = ask(at)
        if outcome == wanted:
            return at
        if outcome != "skip" and (at - other) * step > 0:
            other = at
    far = end
    for _ in range(MOST_INSIDE):
        middle = (other + far) // 2
        if middle in (other, far):
            return None
        outcome = ask(middle)
        if outcome == wanted:
            return middle
        other, far = (other, middle) if outcome == "skip" else (middle, far)
    return None


def minimal(count: int, ask: Callable[[frozenset[int]], Outcome]) -> tuple[frozenset[int], frozenset[int]]:
    """The changes (of ``count``, numbered by how likely they are) that together make the outcome bad.

    All of them together are bad and none of them is good. Returns the changes that are needed, and those of which at least
    one is needed but that could not be judged apart. Asks about ``log2(count)`` sets for each change that is needed.
    """
    needed: frozenset[int] = frozenset()
    free = list(range(count))
    while free and not (needed and ask(needed) == "bad"):
        # The shortest row of further changes that makes it bad: its last change is needed.
        found = between(0, len(free), _rows(ask, needed, free), "bad")
        if found.untold:
            return needed, frozenset(free[found.last : found.first])
        needed |= {free[found.first - 1]}
        free = free[: found.first - 1]
    return needed, frozenset()


def _rows(ask: Callable[[frozenset[int]], Outcome], needed: frozenset[int], free: Sequence[int]) -> Ask:
    """The outcome for the needed changes and so many of the free ones."""
    return lambda length: ask(needed | frozenset(free[:length]))
