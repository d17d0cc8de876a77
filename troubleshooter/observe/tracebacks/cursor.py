"""The position in the lines of one stream, and the exceptions that were found so far."""

from __future__ import annotations

from collections.abc import Sequence

from kb import lazy
from troubleshooter.observe.model import Failure, Frame, Layout
from troubleshooter.observe.tracebacks.messages import message_end
from troubleshooter.read.line import Line

_RAISED = lazy.compile(r"\s*raise ((?:[\w.]{1,80}\.)?[A-Z]\w{1,60})\(")
"""Code that makes the exception which it raises. ``raise error`` does not name one."""


class Cursor:
    """The lines of one stream and the index of the next line to read. Each layout moves the cursor forward and adds the
    exceptions that it finds."""

    __slots__ = ("at", "chained", "failures", "lines", "message_end", "no_box_before", "rank", "teardown")

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.at = 0
        """Index of the next line to read."""
        self.failures: list[Failure] = []
        self.chained = False
        """Whether the next exception was raised from, or during, the last one."""
        self.teardown = False
        """Whether the next exception was printed by an ending interpreter, which ignored it."""
        self.rank: int | None = None
        """The rank that a table names above the next traceback."""
        self.message_end = -1
        """Index after the last message."""
        self.no_box_before = 0
        """Index up to which it is known that no box without a top goes on."""

    def text(self, ahead: int = 0) -> str:
        """The text of the next line, or of one further ahead; "" behind the last line."""
        return self.lines[self.at + ahead].text if self.at + ahead < len(self.lines) else ""

    def following(self, count: int) -> Sequence[Line]:
        """Up to ``count`` lines after the next one."""
        return self.lines[self.at + 1 : self.at + 1 + count]

    def skip_blank(self) -> None:
        """Move to the next line with text."""
        while self.at < len(self.lines) and not self.lines[self.at].text.strip():
            self.at += 1

    def add_exception(
        self, layout: Layout, start: int, type_: str, first: str, frames: list[Frame], *, cut: bool = False
    ) -> None:
        """Add the exception that the next line names, and move behind its message.

        ``start`` is the index of the traceback's first line, ``first`` the first line of the message.
        """
        at = self.at
        # The message of a KeyError is its key, which Python prints on one line.
        is_key = type_ == "KeyError" and first[:1] in ("'", '"') and first.rstrip()[1:].endswith(first[0])
        stop = at + 1 if is_key else message_end(self.lines, at)
        below = tuple(self.lines[at + 1 : stop])
        parts = [first.rstrip()] if first.strip() else []
        message = "\n".join([*parts, *(line.text for line in below)]).strip()
        self.at = self.message_end = max(stop, at + 1)
        self.add(
            Failure(type_, message, frames, self.lines[at], self.lines[start], layout=layout, cut=cut, below=below)
        )

    def add_cut_off(self, layout: Layout, start: int, frames: list[Frame]) -> None:
        """Add a traceback that breaks off before its message; its line is the last one that was read.

        The exception is known if the innermost frame shows the code that raised it (``raise ValueError(…``).
        """
        last = self.lines[min(self.at, len(self.lines)) - 1]
        raised = _RAISED.match(frames[-1].shown[0]) if frames and frames[-1].shown else None
        exception = raised[1] if raised is not None else ""
        self.add(Failure(exception, "", frames, last, self.lines[start], layout=layout, cut=True))

    def add(self, failure: Failure) -> None:
        """Add an exception, together with the role, rank and cause that the lines above it announced."""
        if self.teardown:
            failure.role = "teardown"
        if self.chained and self.failures:
            failure.cause = self.failures[-1]
        rank = failure.line.rank if self.rank is None else self.rank
        if rank is not None:
            failure.ranks.add(rank)
        failure.streams.add(failure.line.stream)
        self.chained = self.teardown = False
        self.rank = None
        self.failures.append(failure)
