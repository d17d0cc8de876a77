"""Everything that was observed in the logs of one run, and what the matcher asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kb.wild import fits
from troubleshooter.lean import dataclass, field
from troubleshooter.observe.model import Bounds, Ending, Exit, Fact, Failure, Point, Record, all_finite
from troubleshooter.observe.progress import RunProgress
from troubleshooter.read.line import Line
from troubleshooter.read.stream import Problem


@dataclass(slots=True)
class Observations:
    """Everything that was observed. ``hits`` holds, by literal of the knowledge, the lines that hold it."""

    failures: list[Failure] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    metrics: dict[str, list[Point]] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    phases: list[tuple[str, Line]] = field(default_factory=list)
    hits: dict[int, list[Line]] = field(default_factory=dict)
    progress: dict[int, RunProgress] = field(default_factory=dict)
    """By file."""
    lines: int = 0
    bytes: int = 0
    ending: Ending = field(default_factory=Ending)
    """How the log ends."""
    complete: bool = True
    """False where only parts of a large log were looked at line by line."""
    problems: dict[int, tuple[Problem, str]] = field(default_factory=dict)
    """By file: what is wrong with it (`read.stream.Problem`), and for a damaged one what its decoder says."""

    shapes: dict[tuple[str, str, float | None], Point | None] = field(default_factory=dict, repr=False)
    """By metric, shape and value: the first point that shows it, where that was asked (`match.numbers`)."""
    showing: dict[tuple[tuple[str, ...], str, float | None], frozenset[Record]] = field(
        default_factory=dict, repr=False
    )
    """By metrics, shape and value: the records that show it, where that was asked."""
    _values: dict[str, list[float]] = field(default_factory=dict, repr=False)
    _bounds: dict[str, Bounds] = field(default_factory=dict, repr=False)
    _records: dict[str, dict[Record, Point]] = field(default_factory=dict, repr=False)
    _holding: dict[int, str] = field(default_factory=dict, repr=False)
    _said: str | None = field(default=None, repr=False)
    _saying: dict[str, list[Line]] | None = field(default=None, repr=False)
    _series: dict[tuple[str, ...], list[tuple[str, list[Point]]]] = field(default_factory=dict, repr=False)

    def holding(self, literal: int) -> str:
        """All kept lines that hold a literal, as patterns see them, one a line, in lower case."""
        if (known := self._holding.get(literal)) is None:
            text = "\n".join([line.folded for line in self.hits.get(literal, ())])
            known = self._holding[literal] = text.lower()
        return known

    @property
    def said(self) -> str:
        """What all exceptions say, as one text in lower case. Asked once everything was observed."""
        if self._said is None:
            self._said = "\n".join([failure.plain for failure in self.failures])
        return self._said

    def saying(self, text: str) -> list[Line]:
        """The kept lines of just this text. Asked once everything was observed."""
        if self._saying is None:
            self._saying = {}
            for lines in self.hits.values():
                for line in lines:
                    self._saying.setdefault(line.text, []).append(line)
        return self._saying.get(text, [])

    def series(self, names: Sequence[str]) -> list[tuple[str, list[Point]]]:
        """The metrics of these names, which may hold ``*``. Asked once everything was observed."""
        wanted = tuple(names)
        if (found := self._series.get(wanted)) is None:
            found = [(name, self.metrics[name]) for name in _meant(wanted, tuple(self.metrics))]
            self._series[wanted] = found
        return found

    def values(self, name: str) -> list[float]:
        """The values of a metric. Asked once everything was observed."""
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
        """The progress of one file, new ones without any sign."""
        known = self.progress.get(file)
        if known is None:
            known = self.progress[file] = RunProgress()
        return known

    def named(self, kind: str, name: str | None = None) -> list[Fact]:
        """The facts of a kind, or those of them with this name."""
        return [f for f in self.facts if f.kind == kind and (name is None or f.name == name)]


@lru_cache(maxsize=1024)
def _meant(wanted: tuple[str, ...], present: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the metrics that one of the wanted names, which may hold ``*``, means."""
    shaped = [name for name in wanted if "*" in name]
    return tuple(name for name in present if name in wanted or any(fits(name, shape) for shape in shaped))
