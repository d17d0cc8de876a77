"""Which reader a line is for, told by one scan: the marks of all readers, and the readers that each mark calls."""

from __future__ import annotations

from troubleshooter.observe import facts, metrics, phases, process
from troubleshooter.read.anomalies import ANOMALY_MARKS

METRICS, EXITS, WELL, PHASES = 1, 2, 4, 8
FACTS = PHASES << len(phases.MARKS)
"""Bits of the readers: those of `phases` from `PHASES` on, those of `facts` from `FACTS` on (``readers // FACTS``)."""


def _routes() -> dict[str, int]:
    found: dict[str, int] = dict.fromkeys(ANOMALY_MARKS, 0)
    for marks, reader in (
        (metrics.MARKS, METRICS),
        (process.EXIT_MARKS, EXITS),
        (process.WELL_MARKS, WELL),
        *((marks, PHASES << n) for n, marks in enumerate(phases.MARKS)),
        (facts.VERSION_MARKS, FACTS * facts.VERSIONS),
        (facts.GPU_MARKS, FACTS * facts.GPUS),
        *((marks, FACTS * facts.PLATFORMS << n) for n, marks in enumerate(facts.PLATFORM_MARKS)),
    ):
        for mark in marks:
            found[mark.lower()] = found.get(mark.lower(), 0) | reader
    return found


MARKS = _routes()
"""Every mark, in lower case, with the readers that it calls as bits."""
