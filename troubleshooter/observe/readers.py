"""The readers that observe lines: each names the keywords of its lines, so that one scan tells whom a line is for.

A new reader is a class with `Reader`'s members in a module of its own, and its name in `READERS`.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from troubleshooter.observe.exits import ExitReader
from troubleshooter.observe.facts import GpuReader, PlatformReader, VersionReader
from troubleshooter.observe.metrics import MetricReader
from troubleshooter.observe.observations import Observations
from troubleshooter.observe.phases import PhaseReader
from troubleshooter.observe.success import SuccessReader
from troubleshooter.read.anomalies import ANOMALY_MARKS
from troubleshooter.read.line import Line


class Reader(Protocol):
    """Takes one kind of observation from the lines of one run."""

    keywords: ClassVar[tuple[str, ...]]
    """Every line that it reads has one of these; case is ignored."""
    reads_metric_lines: ClassVar[bool]
    """Whether it reads lines that hold a record of metrics, too."""

    def __init__(self, observations: Observations) -> None: ...

    def read(self, line: Line) -> object:
        """Take what the line shows."""


READERS: tuple[type[Reader], ...] = (
    ExitReader, SuccessReader, PhaseReader, VersionReader, GpuReader, PlatformReader,
)  # fmt: skip
"""The readers beside that of metrics, in the order in which they are given a line."""
METRICS = 0
"""The number of the reader of metrics; `READERS` are numbered from 1 on."""


def keywords() -> dict[str, tuple[int, ...]]:
    """Every keyword in lower case, with the numbers of the readers that it calls. A mark of an anomaly calls none."""
    found: dict[str, tuple[int, ...]] = dict.fromkeys(ANOMALY_MARKS, ())
    readers: tuple[type[Reader], ...] = (MetricReader, *READERS)
    for number, reader in enumerate(readers):
        for keyword in dict.fromkeys(keyword.lower() for keyword in reader.keywords):
            found[keyword] = (*found.get(keyword, ()), number)
    return found
