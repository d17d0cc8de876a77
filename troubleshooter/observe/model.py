"""The things that are observed in a log: data only. `observations` collects them, `progress` judges whether the run went on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from troubleshooter.lean import dataclass, field
from troubleshooter.read.line import Line
from troubleshooter.read.text import fold

Role = Literal["initiating", "cascade", "teardown", "handled"]
"""What a failure is to its run: its own beginning, the after-effect of another one, the noise of an ending process, or
something that the run survived."""


Layout = Literal["python", "notebook", "rich box", "debugger", "message alone"]
"""How a traceback was printed (`observe.tracebacks`): by Python, IPython, Rich or VS Code, or only its message."""


@dataclass(slots=True)
class Frame:
    """One frame of a traceback: path as printed, line (0 when the paste lacks it) and function."""

    file: str
    line: int
    function: str
    seen: Line | None = field(default=None, repr=False, compare=False)
    """The line of the log that names the frame."""
    shown: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The code that the log shows below the frame: its line, perhaps more lines, and the marks (``^^^^``) below them."""

    @property
    def path(self) -> str:
        """The path with forward slashes, for comparing."""
        return self.file.replace("\\", "/")


@dataclass(slots=True)
class Failure:
    """An exception that the log shows (or a process that died).

    ``exception`` is "" if the type was cut off. ``line`` is the first line of the message, ``start`` that of the traceback. ``cut``:
    whether the start or frames are missing, so that an absent frame proves nothing.
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
    """The line where it was printed last, if it was printed more than once."""
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
        """The texts that patterns see: the message; type and message; and both without line breaks, which may split a word."""
        if not self._folded:
            self._folded = (fold(self.message), fold(self.text))
            if "\n" in self.message:
                self._folded += (fold(self.text.replace("\n", "")),)
        return self._folded

    @property
    def plain(self) -> str:
        """All of `folded` in lower case."""
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
    """Whether a value is neither NaN nor infinite."""
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
    """A fact of the environment: ``kind`` (version, gpu, capability, platform, package), and the line that shows it."""

    kind: str
    name: str
    value: str
    line: Line
    basis: str = "printed"
