"""A line as a person saw it: its text without prefix and decoration, and its place in the raw input."""

from __future__ import annotations

from troubleshooter.read.templates import LineTemplate


class Line:
    """One line of a log.

    ``number`` counts raw lines from 1 in ``file``, which is an index into the report's inputs. ``stream`` tells writers
    apart whose lines are mixed; it is "" if the line names no writer.
    """

    __slots__ = ("file", "folded", "number", "rank", "stamped", "stream", "template", "text")

    def __init__(
        self,
        text: str,
        number: int,
        stream: str = "",
        rank: int | None = None,
        file: int = 0,
        stamped: bool = False,
        folded: str = "",
        template: LineTemplate | None = None,
    ) -> None:
        self.text = text
        self.number = number
        self.stream = stream
        self.rank = rank
        self.file = file
        self.stamped = stamped
        """True if a time stamp or a logger's prefix was removed from the text."""
        self.folded = folded
        """The text as patterns see it (`read.text.fold`), set when the line is scanned; empty if it holds no literal."""
        self.template = template
        """Shared by lines that differ in their digits alone, for as long as it is kept; so not a part of this line."""

    def __repr__(self) -> str:
        return f"<Line {self.file}:{self.number}: {self.text!r}>"


GAP = Line("", 0)
"""A marker between two lines that do not follow each other: the part of a large log between them was passed over."""
