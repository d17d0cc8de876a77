"""Where a rank is: the collective in which it waits, and the innermost frame of the run's own code."""

from __future__ import annotations

from typing import NamedTuple

from troubleshooter.hang.collectives import collective_of
from troubleshooter.hang.owned import is_own
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.stacks import StackFrame


class Standing(NamedTuple):
    """Where a rank is. ``collective``: the collective in which it waits, or "". ``own``: the innermost frame of the run's own code."""

    rank: Rank
    collective: str
    own: StackFrame | None
    innermost: StackFrame | None


def standing_of(rank: Rank) -> Standing:
    stack = rank.stack
    return Standing(
        rank, collective_of(stack), next((f for f in stack if is_own(f)), None), stack[0] if stack else None
    )
