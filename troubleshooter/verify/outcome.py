"""What came of running a probe: how its process ended and what it said on its private channel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["ProbeOutcome", "Row", "Status", "describe"]

Row = dict[str, Any]
"""One message of the probe; its ``kind`` says which other keys it has."""
Status = Literal["ended", "crashed", "timeout", "memory", "output", "unusable"]


@dataclass(frozen=True)
class ProbeOutcome:
    """How one run ended and what the probe said."""

    status: Status
    detail: str
    rows: tuple[Row, ...]
    seconds: float
    peak_mb: int
    tail: str
    """The last 8 KiB that the probe printed, for a person to read."""
    notes: tuple[str, ...] = field(default=())

    def of(self, kind: str) -> list[Row]:
        """The rows of one kind, in the order in which the probe sent them."""
        return [row for row in self.rows if row.get("kind") == kind]


def describe(row: Row) -> str:
    """One line that says what a case showed: a measured value, or the exception and its message."""
    observed = row.get("observed") or {}
    case = str(row.get("case") or "")
    if observed.get("measured"):
        return f"{case}: {observed['measured']}" if case else str(observed["measured"])
    if observed.get("exception"):
        message = (str(observed.get("matched") or observed.get("message") or "").strip().splitlines() or [""])[0]
        return f"{observed['exception']}: {message[:300]} ({case})"
    return case
