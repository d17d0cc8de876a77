"""Turn "present in these releases" into "since" and "until", with the neighbouring releases that were scanned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """A run of scanned releases in which something is there.

    `since` is None when it was there in the first release scanned, `until` is the first release without it (None:
    still there).  `since_before` and `until_before` are the scanned neighbours: last release without, last with.
    """

    since: str | None
    since_before: str | None
    until: str | None
    until_before: str | None

    @property
    def changed(self) -> bool:
        """Whether anything came or went."""
        return self.since is not None or self.until is not None


def spans(states: Sequence[bool | None], versions: Sequence[str]) -> list[Span]:
    """Runs of True.  None means that the question makes no sense there (the owner itself is missing).

    A run that is bounded by None has no boundary of its own: nothing appeared or vanished, its owner did.
    """
    found: list[Span] = []
    start: int | None = None
    for index in range(len(states) + 1):
        present = index < len(states) and states[index] is True
        if present and start is None:
            start = index
        elif not present and start is not None:
            before = states[start - 1] if start else None
            after = states[index] if index < len(states) else None
            found.append(
                Span(
                    versions[start] if before is False else None,
                    versions[start - 1] if before is False else None,
                    versions[index] if after is False else None,
                    versions[index - 1] if after is False else None,
                )
            )
            start = None
    return found
