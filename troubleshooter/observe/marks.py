"""Which reader a line is for, told by one scan: the marks of all readers, and the readers that each mark calls."""

from __future__ import annotations

from troubleshooter.observe import facts, metrics, phases, process
from troubleshooter.read import windows

METRICS, FACTS, PROCESS, PHASES = 1, 2, 4, 8


def _routes() -> dict[str, int]:
    found: dict[str, int] = dict.fromkeys(windows.MARKS, 0)  # first: `Windows` knows its marks by their place
    for marks, reader in (
        (metrics.MARKS, METRICS),
        (facts.MARKS, FACTS),
        (process.MARKS, PROCESS),
        (phases.MARKS, PHASES),
    ):
        for mark in marks:
            found[mark.lower()] = found.get(mark.lower(), 0) | reader
    return found


_FOUND = _routes()
MARKS = tuple(_FOUND)
ROUTES = tuple(_FOUND.values())
