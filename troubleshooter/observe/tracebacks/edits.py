"""Lines whose texts were changed, each with the rule that changed it. The caller's own lines are not modified."""

from __future__ import annotations

from typing import Literal

from troubleshooter.read.line import Line

EditRule = Literal[
    "indent", "markup", "typographic quotes", "wrapped path", "wrapped frame", "PowerShell", "logger prefix", "group rail",
    "words around",
]  # fmt: skip
"""The reason why a line was changed; each one names a function of `normalize` or `groups`."""


class LineEdits:
    """The lines of one stream, copied before the first change. Their number never changes, so an index stays valid."""

    __slots__ = ("_given", "lines", "rules")

    def __init__(self, lines: list[Line]) -> None:
        self._given = lines
        self.lines = lines
        """The lines with the changes so far."""
        self.rules: dict[int, EditRule] = {}
        """By index: the last rule that changed the line."""

    def replace(self, at: int, text: str, rule: EditRule, rank: int | None = None) -> None:
        """Give the line at an index another text, and a rank if one is given."""
        if self.lines is self._given:
            self.lines = list(self._given)
        line = self.lines[at]
        self.rules[at] = rule
        rank = line.rank if rank is None else rank
        self.lines[at] = Line(text, line.number, line.stream, rank, line.file, line.stamped)
