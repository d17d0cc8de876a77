"""The readers that observe lines. Each names the keywords of its lines, so that one scan of a line finds the readers
that it concerns.

To add a reader, write a class with `Reader`'s members in a module of its own, and name it in `READERS`.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from troubleshooter.observe.commands import CommandReader
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
    """Every line that it reads contains one of these; case is ignored."""
    reads_metric_lines: ClassVar[bool]
    """Whether it also reads lines that hold a record of metrics."""

    def __init__(self, observations: Observations) -> None: ...

    def read(self, line: Line) -> object:
        """Take the observation that the line shows."""


READERS: tuple[type[Reader], ...] = (
    ExitReader, SuccessReader, PhaseReader, VersionReader, GpuReader, PlatformReader, CommandReader,
)  # fmt: skip
"""All readers but that of metrics. A line is given to them in this order."""
METRICS = 0
"""The number of the metric reader; `READERS` are numbered from 1."""


def keywords() -> dict[str, tuple[int, ...]]:
    """Every keyword in lower case, with the numbers of the readers that it calls. A mark of an anomaly calls no reader."""
    found: dict[str, tuple[int, ...]] = dict.fromkeys(ANOMALY_MARKS, ())
    readers: tuple[type[Reader], ...] = (MetricReader, *READERS)
    for number, reader in enumerate(readers):
        for keyword in dict.fromkeys(keyword.lower() for keyword in reader.keywords):
            found[keyword] = (*found.get(keyword, ()), number)
    return found
