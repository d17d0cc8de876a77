"""The data types for everything that is observed in a log. `observations` collects them; `progress` judges whether the
run went on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from troubleshooter.read.line import Line
from troubleshooter.read.text import fold

Role = Literal["initiating", "cascade", "teardown", "handled"]
"""The part that a failure played in its run: it began the failure, it followed from another process's failure, it is
noise of a process that ends, or the run survived it."""


Layout = Literal["python", "notebook", "rich box", "debugger", "message alone"]
"""How a traceback was printed (`observe.tracebacks`): by Python, IPython, Rich or VS Code, or only its message."""


class Frame:
    """One frame of a traceback: the path as printed, the line number (0 if the paste lacks it) and the function."""

    __slots__ = ("above", "below", "file", "function", "line", "seen", "shown", "values")

    def __init__(
        self, file: str, line: int, function: str, seen: Line | None = None, shown: tuple[str, ...] = ()
    ) -> None:
        self.file = file
        self.line = line
        self.function = function
        self.seen = seen
        """The line of the log that names the frame."""
        self.shown = shown
        """The code that the log shows below the frame: its line, perhaps more lines, and the marks (``^^^^``) below them."""
        self.above: tuple[str, ...] = ()
        self.below: tuple[str, ...] = ()
        """Code that a notebook or Rich shows above and below the frame's line, with its indent."""
        self.values: Mapping[str, Any] = {}
        """By variable: its crash facts (`observe.values`)."""

    @property
    def path(self) -> str:
        """The path with forward slashes, for comparing."""
        return self.file.replace("\\", "/")


class Failure:
    """An exception that the log shows, or a process that died.

    ``exception`` is "" if the type was cut off. ``line`` is the first line of the message, ``start`` the first line of
    the traceback. ``cut``: its start or some frames are missing, so that a frame may have existed although it is not
    shown.
    """

    __slots__ = (
        "_folded", "_plain", "below", "cause", "cut", "exception", "frames", "last", "layout", "line", "message", "ranks",
        "repeated", "role", "seen_at", "start", "streams",
    )  # fmt: skip

    def __init__(
        self,
        exception: str,
        message: str,
        frames: list[Frame],
        line: Line,
        start: Line,
        layout: Layout = "message alone",
        cut: bool = False,
        below: tuple[Line, ...] = (),
    ) -> None:
        self.exception = exception
        self.message = message
        self.frames = frames
        self.line = line
        self.start = start
        self.role: Role = "initiating"
        self.layout: Layout = layout
        self.cut = cut
        self.repeated = 1
        self.ranks: set[int] = set()
        self.streams: set[str] = set()
        self.seen_at: dict[int, int] = {}
        """By rank: the line on which that rank first printed it."""
        self.cause: Failure | None = None
        """The exception that this one was raised from or during."""
        self.last: Line | None = None
        """The line where it was printed last, if it was printed more than once."""
        self.below = below
        """The lines of the message below its first one."""
        self._folded: tuple[str, ...] = ()
        self._plain = ""

    def __repr__(self) -> str:
        return f"<Failure ({self.role}) at {self.line.file}:{self.line.number}: {self.text!r}>"

    @property
    def uncaught(self) -> bool:
        """Whether the interpreter itself printed the exception: its frames begin where a program begins, and no
        logger's prefix precedes it."""
        return bool(self.frames) and not self.cut and not self.line.stamped and self.frames[0].function == "<module>"

    @property
    def lacks_message(self) -> bool:
        """Whether the log ends with the code that raised it, before its message."""
        return self.cut and not self.message and "raise " in self.line.text

    @property
    def folded(self) -> tuple[str, ...]:
        """The texts in which patterns search: the message, then type and message, then both again without line breaks,
        which may split a word."""
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


class Exit(NamedTuple):
    """A process that ended: ``status`` as Python counts (negative: signal)."""

    status: int
    line: Line
    rank: int | None = None


class ShownCommand(NamedTuple):
    """A command, in one line, and the line of the log where it begins."""

    text: str
    line: Line


class Point(NamedTuple):
    """One value of a metric: ``record`` numbers the printed record, ``step`` the training step where known."""

    value: float
    record: int
    line: Line
    step: float | None = None


EndState = Literal["ended", "in-training", "failed", "unknown", "written"]
"""``ended``: a line says so. ``in-training``: the training was not complete. ``failed``: a process that trained ended
with a status other than 0. ``unknown``: the log does not show its end. ``written``: the log breaks off in the middle of
the training but was written to a moment ago, so the run may be going on."""


class Ending(NamedTuple):
    """How a log ends, and the line that shows it (None if no line does). ``trained``: whether its last lines show a
    training."""

    state: EndState = "unknown"
    line: Line | None = None
    trained: bool = False


Record = tuple[int, int]
"""A printed record of metrics: the file, and the number of the record in it."""


def finite(value: float) -> bool:
    """Whether a value is neither NaN nor infinite."""
    return value - value == 0


def all_finite(values: Iterable[float]) -> bool:
    """Whether all values are finite. False also for values so large that their sum is infinite."""
    return finite(sum(values))


class Bounds(NamedTuple):
    """The lowest and the highest value of a metric, and whether all values are finite; if not, the two mean nothing."""

    low: float
    high: float
    finite: bool


class DatedPackage(NamedTuple):
    """The releases of a package that could have printed the log's messages, oldest first.

    Not every release is known: the true bounds lie between ``after`` and the first, and between the last and ``before``
    (None: nothing older or newer is known). ``line``: one that narrowed them. ``printed``: the version that the log shows
    itself, None where it shows none; ``contradicted``: whether that one could not have printed the messages.
    """

    package: str
    releases: tuple[str, ...]
    after: str | None
    before: str | None
    line: Line
    printed: str | None = None
    contradicted: bool = False


class Fact(NamedTuple):
    """A fact of the environment: ``kind`` (version, gpu, capability, platform, package), and the line that shows it."""

    kind: str
    name: str
    value: str
    line: Line
    basis: str = "printed"
