"""What a condition is evaluated against: the observations, what a symptom is anchored to, what it captured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kb.compiled import Knowledge
from kb.placeholders import HOLE
from troubleshooter.match.outcome import Anchor
from troubleshooter.match.regex import search
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

    def lines(self, pattern: dict[str, Any]) -> Iterator[Line]:
        """Lines that hold a literal of the pattern, in the order of the log."""
        found: dict[tuple[int, int, str], Line] = {}
        for literal in pattern["literals"]:
            for line in self.observations.hits.get(self.base + literal, ()):
                found[line.file, line.number, line.text] = line
        return iter(sorted(found.values(), key=lambda line: (line.file, line.number)))

    def may_match(self, pattern: dict[str, Any], text: str) -> bool:
        """Whether a text in lower case holds what every match of the pattern holds: else compiling it is in vain."""
        if "forced" in pattern and not all(run in text for run in pattern["forced"]):
            return False
        literals = pattern["literals"]
        return not literals or any(self.knowledge.literals[self.base + n] in text for n in literals)

    def search(self, pattern: dict[str, Any], text: str) -> Any:
        """The first match of a pattern in a folded text, or None."""
        return search(pattern["re"], text) if self.may_match(pattern, text.lower()) else None

    def filled(self, text: str) -> str | None:
        """A text with its ``<<captures>>``; None when one is missing."""
        missing = [m for m in HOLE.finditer(text) if m[1] not in self.captured]
        return None if missing else HOLE.sub(lambda m: self.captured[m[1]], text)
