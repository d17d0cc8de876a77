"""What was observed in a log, before any entry is asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from kb import lazy
from kb.wild import fits
from troubleshooter.lean import dataclass, field
from troubleshooter.read.line import Line
from troubleshooter.read.stream import Problem
from troubleshooter.read.text import fold

Role = Literal["initiating", "cascade", "teardown", "handled"]
"""What a failure is to its run: its own beginning, the after-effect of another one, the noise of an ending process, or
something that the run outlived."""


Layout = Literal["python", "notebook", "rich box", "debugger", "message alone"]
"""How a traceback was printed (`observe.tracebacks`): by Python, IPython, Rich or VS Code, or only its message."""


@dataclass(slots=True)
class Frame:
    """One frame of a traceback: path as printed, line (0 when the paste lacks it) and function."""

    file: str
    line: int
    function: str
    seen: Line | None = field(default=None, repr=False, compare=False)
    """Where the frame stands in the log."""
    shown: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The code that the log shows below the frame: its line, perhaps more lines, and the marks (``^^^^``) below them."""

    @property
    def path(self) -> str:
        """The path with forward slashes, for comparing."""
        return self.file.replace("\\", "/")


@dataclass(slots=True)
class Failure:
    """An exception that the log shows (or a process that died).

    ``exception`` is "" where the paste lost the type. ``line`` is the raw line of the message. ``cut`` says that the
    traceback's start or frames are missing, so that an absent frame proves nothing.
    """

    exception: str
    message: str
    frames: list[Frame]
    line: Line
    start: Line
    role: Role = "initiating"
    layout: Layout = "message alone"
    cut: bool = False
    repeated: int = 1
    ranks: set[int] = field(default_factory=set)
    streams: set[str] = field(default_factory=set)
    seen_at: dict[int, int] = field(default_factory=dict)
    """By rank: the line on which that rank first printed it."""
    cause: Failure | None = None
    """The exception that this one was raised from or during."""
    last: Line | None = None
    """Where it was printed last, when it was printed more than once."""
    below: tuple[Line, ...] = field(default=(), repr=False, compare=False)
    """The lines of the message below its first one."""
    _folded: tuple[str, ...] = ()
    _plain: str = ""

    @property
    def uncaught(self) -> bool:
        """Whether the interpreter itself printed it: its frames begin where a program does, and no logger's prefix is there."""
        return bool(self.frames) and not self.cut and not self.line.stamped and self.frames[0].function == "<module>"

    @property
    def folded(self) -> tuple[str, ...]:
        """What patterns see: the message; type and message; and the same where a line break took a word apart."""
        if not self._folded:
            self._folded = (fold(self.message), fold(self.text))
            if "\n" in self.message:
                self._folded += (fold(self.text.replace("\n", "")),)
        return self._folded

    @property
    def plain(self) -> str:
        """All of `folded` in lower case, for a first look."""
        if not self._plain:
            self._plain = "\0".join(self.folded).lower()
        return self._plain

    @property
    def type(self) -> str:
        """The last dotted part of the exception's type, without Ray's "(cause)"."""
        return self.exception.partition("(")[0].rpartition(".")[2]

    @property
    def text(self) -> str:
        """Type and message as the last line of a traceback prints them."""
        return (
            f"{self.exception}: {self.message}" if self.exception and self.message else self.exception or self.message
        )


@dataclass(slots=True)
class Exit:
    """A process that ended: ``status`` as Python counts (negative: signal)."""

    status: int
    line: Line
    rank: int | None = None


@dataclass(slots=True)
class Point:
    """One value of a metric: ``record`` numbers the printed record, ``step`` the training step where known."""

    value: float
    record: int
    line: Line
    step: float | None = None


EndState = Literal["ended", "in-training", "failed", "unknown", "written"]
"""``ended``: a line says so. ``in-training``: more of the training was to come. ``failed``: a process that trained ended with
another status than 0. ``unknown``: the log does not show its end. ``written``: the log breaks off in the middle of the training,
and was written to a moment ago, so the run may be going on."""


class Ending(NamedTuple):
    """How a log ends, and the line that shows it (None where none does). ``trained``: whether its last lines show a training."""

    state: EndState = "unknown"
    line: Line | None = None
    trained: bool = False


Record = tuple[int, int]
"""A printed record of metrics: its file, and its number there."""


def finite(value: float) -> bool:
    """Whether it is a number, and no infinite one."""
    return value - value == 0


def all_finite(values: Iterable[float]) -> bool:
    """Whether all values are finite (and not so large that their sum is not)."""
    return finite(sum(values))


class Bounds(NamedTuple):
    """Lowest and highest value of a metric, and whether all are finite (else the two mean nothing)."""

    low: float
    high: float
    finite: bool


@dataclass(slots=True)
class Fact:
    """Something about the environment that the log shows, and where."""

    kind: str
    name: str
    value: str
    line: Line
    basis: str = "printed"


_OF_INSTALLER = lazy.compile(
    r"\s*(?:(?:ERROR|WARNING|warning|note):\s|error:\s(?:subprocess|metadata|legacy|externally|command|failed|could not)|Failed\b)"
)
"""Lines of an installer, which goes on to another release, or to another way to build one."""
WENT_ON, BEGUN_ANEW = 2, 10
"""Records of metrics after an exception from which on the run is taken to have gone on, and after one that ended its process:
a few are printed by other ranks before they notice, and by who quotes the log below the error."""


@dataclass(slots=True)
class Progress:
    """What shows in one file that the run was at work."""

    well: int = 0
    """The last line that says that something ended well."""
    installed: int = 0
    """The last line that says that packages were installed."""
    steps: deque[int] = field(default_factory=lambda: deque([0] * BEGUN_ANEW, maxlen=BEGUN_ANEW))
    """The last lines with metrics, the earliest first."""

    def after(self, line: Line, records: int) -> bool:
        """Whether something ended well, or so many records of metrics stand, below this line."""
        return line.number < max(self.well, self.steps[-records])


@dataclass(slots=True)
class Observations:
    """Everything that was observed. ``hits`` holds, by literal of the knowledge, the lines that hold it."""

    failures: list[Failure] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    metrics: dict[str, list[Point]] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    phases: list[tuple[str, Line]] = field(default_factory=list)
    hits: dict[int, list[Line]] = field(default_factory=dict)
    progress: dict[int, Progress] = field(default_factory=dict)
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

    def handled(self, line: Line) -> bool:
        """Whether the run went on after this line: what it tells was a warning, or was retried or skipped."""
        progress = self.progress.get(line.file)
        return progress is not None and (
            progress.after(line, 1) or (line.number < progress.installed and _OF_INSTALLER.match(line.text) is not None)
        )

    def outlived(self, failure: Failure) -> bool:
        """Whether the run went on after this exception, or another one after a crash."""
        line = failure.last or failure.line
        progress = self.progress.get(line.file)
        return progress is not None and progress.after(line, BEGUN_ANEW if failure.uncaught else WENT_ON)

    def named(self, kind: str, name: str | None = None) -> list[Fact]:
        return [f for f in self.facts if f.kind == kind and (name is None or f.name == name)]


@lru_cache(maxsize=1024)
def _meant(wanted: tuple[str, ...], present: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the metrics that one of the wanted names, which may hold ``*``, means."""
    shaped = [name for name in wanted if "*" in name]
    return tuple(name for name in present if name in wanted or any(fits(name, shape) for shape in shaped))
