"""Everything that was observed in the logs of one run, with the questions that the matcher asks about it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kb.wild import fits
from troubleshooter.observe.model import (
    Bounds,
    DatedPackage,
    Ending,
    Exit,
    Fact,
    Failure,
    Point,
    Record,
    ShownCommand,
    all_finite,
)
from troubleshooter.observe.progress import RunProgress
from troubleshooter.read.line import Line
from troubleshooter.read.stream import Problem


class Observations:
    """Everything that was observed in the logs of one run.

    ``hits``: the kept lines that contain a literal, by the literal's number. The methods keep their results, because
    the matcher asks the same question for many entries.
    """

    __slots__ = (
        "_bounds", "_by_text", "_messages", "_records", "_series", "_texts", "_values", "bytes", "commands", "complete", "dated", "ending",
        "exits", "fact_files", "facts", "failures", "hits", "lines", "metrics", "phases", "piece", "points_by_shape", "problems", "progress", "records_by_shape",
    )  # fmt: skip

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.exits: list[Exit] = []
        self.metrics: dict[str, list[Point]] = {}
        self.facts: list[Fact] = []
        self.fact_files: list[str] = []
        """Files of crash facts that count as inputs, behind the logs: their exception was observed, or they cannot be used."""
        self.commands: list[ShownCommand] = []
        """The commands by which the run was started, as far as the log shows them."""
        self.dated: dict[str, DatedPackage] = {}
        """By package (canonical name): the releases that its messages allow. It is filled only if no answer is more than possible."""
        self.phases: list[tuple[str, Line]] = []
        self.hits: dict[int, list[Line]] = {}
        self.progress: dict[int, RunProgress] = {}
        """By file."""
        self.piece: list[Line] = []
        """All lines of a text of few lines (`observer.PIECE_LINES`); none of a longer one."""
        self.lines = 0
        self.bytes = 0
        self.ending = Ending()
        """How the log ends."""
        self.complete = True
        """False where only parts of a large log were looked at line by line."""
        self.problems: dict[int, tuple[Problem, str]] = {}
        """By file: what is wrong with it (`read.stream.Problem`), and the particulars where there are some."""
        self.points_by_shape: dict[tuple[str, str, float | None], Point | None] = {}
        """Kept answers of `match.conditions.metric`, by metric, shape and value: the first point that shows the shape, or None."""
        self.records_by_shape: dict[tuple[tuple[str, ...], str, float | None], frozenset[Record]] = {}
        """Kept answers of `match.conditions.metric`, by metrics, shape and value: the records that show the shape."""
        self._values: dict[str, list[float]] = {}
        self._bounds: dict[str, Bounds] = {}
        self._records: dict[str, dict[Record, Point]] = {}
        self._texts: dict[int, str] = {}
        self._messages: str | None = None
        self._by_text: dict[str, list[Line]] | None = None
        self._series: dict[tuple[str, ...], list[tuple[str, list[Point]]]] = {}

    def text_for_literal(self, literal: int) -> str:
        """The kept lines that contain a literal, as one text: one line each, in lower case, in the form in which
        patterns see them."""
        if (known := self._texts.get(literal)) is None:
            text = "\n".join([line.folded for line in self.hits.get(literal, ())])
            known = self._texts[literal] = text.lower()
        return known

    @property
    def all_messages(self) -> str:
        """The messages of all exceptions as one text in lower case. Call it only after everything was observed."""
        if self._messages is None:
            self._messages = "\n".join([failure.plain for failure in self.failures])
        return self._messages

    def lines_with_text(self, text: str) -> list[Line]:
        """The kept lines that have exactly this text. Call it only after everything was observed."""
        if self._by_text is None:
            self._by_text = {}
            for lines in self.hits.values():
                for line in lines:
                    self._by_text.setdefault(line.text, []).append(line)
        return self._by_text.get(text, [])

    def series(self, names: Sequence[str]) -> list[tuple[str, list[Point]]]:
        """The metrics of these names, which may contain ``*``. Call it only after everything was observed."""
        wanted = tuple(names)
        if (found := self._series.get(wanted)) is None:
            found = [(name, self.metrics[name]) for name in _meant(wanted, tuple(self.metrics))]
            self._series[wanted] = found
        return found

    def values(self, name: str) -> list[float]:
        """The values of a metric. Call it only after everything was observed."""
        if (known := self._values.get(name)) is None:
            known = self._values[name] = [point.value for point in self.metrics[name]]
        return known

    def bounds(self, name: str) -> Bounds:
        """The bounds of a metric's values."""
        if (known := self._bounds.get(name)) is None:
            values = self.values(name)
            known = self._bounds[name] = Bounds(min(values), max(values), all_finite(values))
        return known

    def records(self, name: str) -> dict[Record, Point]:
        """The last value of a metric in each printed record."""
        if (known := self._records.get(name)) is None:
            known = self._records[name] = {(p.line.file, p.record): p for p in self.metrics[name]}
        return known

    def progress_of(self, file: int) -> RunProgress:
        """The progress of one file; a new one without any sign if the file has none yet."""
        known = self.progress.get(file)
        if known is None:
            known = self.progress[file] = RunProgress()
        return known

    def facts_of(self, kind: str, name: str | None = None) -> list[Fact]:
        """The facts of a kind; if a name is given, only those with this name."""
        return [f for f in self.facts if f.kind == kind and (name is None or f.name == name)]


@lru_cache(maxsize=1024)
def _meant(wanted: tuple[str, ...], present: tuple[str, ...]) -> tuple[str, ...]:
    """The metrics that match one of the wanted names, which may contain ``*``."""
    shaped = [name for name in wanted if "*" in name]
    return tuple(name for name in present if name in wanted or any(fits(name, shape) for shape in shaped))
