"""Everything that a condition is evaluated against: the observations, the symptom's anchor, and the values captured so
far."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kb.compiled import Knowledge
from kb.compiled_conditions import Condition, Pattern
from kb.placeholders import HOLE
from troubleshooter.match.outcome import Anchor, Outcome
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line


class Context:
    """A symptom's view of the log: the observations, the exception or line that the symptom is about (its anchor), and
    the values that its patterns captured."""

    __slots__ = ("anchor", "base", "captured", "knowledge", "observations")

    def __init__(
        self, observations: Observations, knowledge: Knowledge, base: int = 0, anchor: Anchor | None = None,
        captured: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.observations = observations
        self.knowledge = knowledge
        self.base = base
        self.anchor = anchor
        self.captured = {} if captured is None else captured

    def lines(self, literals: Iterable[int]) -> list[Line]:
        """The kept lines that contain one of the literals, each once, in the order of the log."""
        hits = self.observations.hits
        return _each_once([hits[self.base + n] for n in literals if self.base + n in hits])

    def may_match(self, patterns: Iterable[Pattern]) -> bool:
        """Whether a line or a message could match one of the patterns. False is sure; True only means that it is worth
        searching."""
        seen = self.observations
        for pattern in patterns:
            for number in pattern["literals"]:
                literal = self.base + number
                if literal in seen.hits and (
                    contains_required(seen.text_for_literal(literal), pattern)
                    or contains_required(seen.all_messages, pattern)
                ):
                    return True
        return False

    def candidate_lines(self, pattern: Pattern) -> list[Line]:
        """The kept lines that may match the pattern, in the order of the log."""
        seen = self.observations
        literals = [n for n in pattern["literals"] if self.base + n in seen.hits]
        return self.lines([n for n in literals if contains_required(seen.text_for_literal(self.base + n), pattern)])

    def filled(self, text: str) -> str | None:
        """The text with its ``<<captures>>`` replaced by their values; None if a value is missing."""
        missing = [m for m in HOLE.finditer(text) if m[1] not in self.captured]
        return None if missing else HOLE.sub(lambda m: self.captured[m[1]], text)


def contains_required(text: str, pattern: Pattern) -> bool:
    """Whether the text contains what every match of the pattern contains (`kb.patterns.required_texts`). ``text`` is in
    lower case."""
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


Evaluate = Callable[[Condition, Context], Outcome]
"""A function that evaluates a condition of any kind. Conditions that combine others get it to evaluate their parts."""
