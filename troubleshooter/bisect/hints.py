"""What is known before the first trial: at which releases a failure's message, or an entry's range, begins and ends."""

from __future__ import annotations

from collections.abc import Sequence

from kb import versions as ranges
from kb.errors import TroubleshootError
from troubleshooter.bisect.failure import RunFailure

__all__ = ["of_message", "of_range"]


def of_range(range_: str, releases: Sequence[str]) -> list[str]:
    """The releases at which an entry's range begins or ends."""
    inside = [ranges.contains(range_, release) for release in releases]
    return [releases[at] for at in range(1, len(releases)) if inside[at] != inside[at - 1]]


def of_message(failure: RunFailure, package: str, releases: Sequence[str]) -> list[str]:
    """The releases at which the index of messages says that the message came or went; empty where it is not known."""
    from kb.index.store import find

    try:
        found = find(failure.message, failure.exception, package, failure.place.rpartition(":")[2] or None)
    except TroubleshootError:
        return []
    hints: list[str] = []
    for message in found[:1]:
        for first, last in message.releases:
            if first in releases:
                hints.append(first)
            if last in releases[:-1]:
                hints.append(releases[releases.index(last) + 1])
    return hints
