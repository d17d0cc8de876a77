"""What a condition is evaluated against: the observations, what a symptom is anchored to, what it captured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kb.compiled import Knowledge
from kb.placeholders import HOLE
from troubleshooter.lean import dataclass, field
from troubleshooter.match.outcome import Anchor
from troubleshooter.observe.observations import Observations
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

    def lines(self, literals: Iterable[int]) -> list[Line]:
        """The kept lines that hold one of the literals, in the order of the log, each once."""
        hits = self.observations.hits
        return _each_once([hits[self.base + n] for n in literals if self.base + n in hits])

    def may_match(self, patterns: Iterable[dict[str, Any]]) -> bool:
        """Whether a line or a message may match one of the patterns. Wrong on one side only: True proves nothing."""
        seen = self.observations
        for pattern in patterns:
            for number in pattern["literals"]:
                literal = self.base + number
                if literal in seen.hits and (
                    contains_required(seen.text_for_literal(literal), pattern) or contains_required(seen.all_messages, pattern)
                ):
                    return True
        return False

    def candidate_lines(self, pattern: dict[str, Any]) -> list[Line]:
        """The kept lines that may match the pattern, in the order of the log."""
        seen = self.observations
        literals = [n for n in pattern["literals"] if self.base + n in seen.hits]
        return self.lines([n for n in literals if contains_required(seen.text_for_literal(self.base + n), pattern)])

    def filled(self, text: str) -> str | None:
        """A text with its ``<<captures>>``; None when one is missing."""
        missing = [m for m in HOLE.finditer(text) if m[1] not in self.captured]
        return None if missing else HOLE.sub(lambda m: self.captured[m[1]], text)


def contains_required(text: str, pattern: dict[str, Any]) -> bool:
    """Whether a text in lower case contains what every match of the pattern contains (`kb.patterns.required_texts`)."""
    for choices in pattern["required"]:
        for choice in choices:
            if choice in text:
                break
        else:
            return False
    return True


def _each_once(lists: list[list[Line]]) -> list[Line]:
    if len(lists) == 1:
        return lists[0]
    each = {(line.file, line.number, line.text): line for some in lists for line in some}
    return sorted(each.values(), key=lambda line: (line.file, line.number))
