"""What a condition is evaluated against: the observations, what a symptom is anchored to, what it captured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kb.compiled import Knowledge, holds
from kb.placeholders import HOLE
from troubleshooter.lean import dataclass, field
from troubleshooter.match.outcome import Anchor
from troubleshooter.match.regex import on_a_line
from troubleshooter.observe.model import Observations
from troubleshooter.read.line import Line

Condition = dict[str, Any]
"""A condition as `kb.compile` writes it."""


@dataclass(slots=True)
class Context:
    """A symptom's view of the log: what was observed, what it is anchored to, what its patterns captured."""

    observations: Observations
    knowledge: Knowledge
    base: int = 0
    anchor: Anchor | None = None
    captured: dict[str, str] = field(default_factory=dict)

    def lines(self, asked: dict[str, Any]) -> list[Line]:
        """Lines that hold a literal of a pattern or condition, in the order of the log."""
        hits = self.observations.hits
        return _each_once([hits[self.base + n] for n in asked["literals"] if self.base + n in hits])

    def likely(self, pattern: dict[str, Any]) -> Iterator[tuple[Line, str]]:
        """Lines that may match the pattern, in the order of the log, each with its folded text."""
        seen = self.observations
        for line in _each_once([seen.hits[n] for n in self._promising(pattern)]):
            text = line.folded
            if may_match(pattern, text.lower()):
                yield line, text

    def may_be_printed(self, pattern: dict[str, Any]) -> bool:
        """Whether a line may match the pattern, told from all lines of one of its literals together."""
        return next(self._promising(pattern), None) is not None

    def _promising(self, pattern: dict[str, Any]) -> Iterator[int]:
        """Those of the pattern's literals with a line that may match it."""
        seen, ways = self.observations, pattern["ways"]
        for n in pattern["literals"]:
            literal = self.base + n
            if (
                literal in seen.hits
                and holds(ways, seen.holding(literal))
                and on_a_line(pattern["re"], seen.printed(literal))
            ):
                yield literal

    def may_be_said(self, pattern: dict[str, Any]) -> bool:
        """Whether an exception's message or a line may match the pattern. What an exception says was printed: without
        one of the pattern's literals on some line it need not be looked at."""
        hits = self.observations.hits
        for n in pattern["literals"]:
            if self.base + n in hits:
                return may_match(pattern, self.observations.said) or self.may_be_printed(pattern)
        return False

    def filled(self, text: str) -> str | None:
        """A text with its ``<<captures>>``; None when one is missing."""
        missing = [m for m in HOLE.finditer(text) if m[1] not in self.captured]
        return None if missing else HOLE.sub(lambda m: self.captured[m[1]], text)


def may_match(pattern: dict[str, Any], text: str) -> bool:
    """Whether a text in lower case holds what every match of the pattern holds: else trying it is in vain."""
    return holds(pattern["ways"], text)


def _each_once(lists: list[list[Line]]) -> list[Line]:
    if len(lists) == 1:
        return lists[0]
    each = {(line.file, line.number, line.text): line for some in lists for line in some}
    return sorted(each.values(), key=lambda line: (line.file, line.number))
