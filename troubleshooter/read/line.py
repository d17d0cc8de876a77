"""A line as a person saw it: text without prefix and decoration, and where it stands in the raw input."""

from __future__ import annotations

from troubleshooter.lean import dataclass, field
from troubleshooter.read.templates import LineTemplate


@dataclass(slots=True)
class Line:
    """``number`` counts raw lines from 1 in ``file`` (an index into the report's inputs); ``stream`` takes
    interleaved writers apart and is "" where nothing on the line names one."""

    text: str
    number: int
    stream: str = ""
    rank: int | None = None
    file: int = 0
    stamped: bool = False
    """Whether a time, or a logger's prefix, stood before the text."""
    folded: str = ""
    """The text as patterns see it (`read.text.fold`), set when the line is scanned; empty if it holds no literal."""
    template: LineTemplate | None = field(default=None, repr=False, compare=False)
    """Shared by lines that differ in their digits alone, for as long as it is kept; so not a part of this line."""


GAP = Line("", 0)
"""Stands between lines that do not follow each other: a part of a large log was passed over."""
