"""What became of a condition: held, contradicted or not seen, with the evidence."""

from __future__ import annotations

from typing import Literal

from troubleshooter.observe.model import Failure
from troubleshooter.read.line import Line

State = Literal["held", "contradicted", "unseen"]


def quoted(pattern: str) -> str:
    """A pattern as people read it: its backslashes are not doubled."""
    return f"'{pattern}'"


class Evidence:
    """A line that shows something, the words in it, and what it shows."""

    __slots__ = ("line", "text", "why")

    def __init__(self, line: Line, text: str, why: str) -> None:
        self.line = line
        self.text = text
        self.why = why


class Outcome:
    """What became of a condition, the lines that show it, and what its patterns captured.

    ``parts_unseen`` counts parts of a held condition that the paste does not show (an exception's type). ``length`` is the
    number of characters that a pattern matched: how specific the words are.
    """

    __slots__ = ("captured", "evidence", "length", "parts", "parts_unseen", "said", "state")

    def __init__(
        self, state: State, said: str, evidence: list[Evidence] | None = None, captured: dict[str, str] | None = None,
        parts_unseen: int = 0, length: int = 0, parts: list[Outcome] | None = None,
    ) -> None:  # fmt: skip
        self.state: State = state
        self.said = said
        self.evidence = [] if evidence is None else evidence
        self.captured = {} if captured is None else captured
        self.parts_unseen = parts_unseen
        self.length = length
        self.parts = [] if parts is None else parts


class Anchor:
    """What a symptom is about: an exception, or a line without one."""

    __slots__ = ("failure", "line")

    def __init__(self, failure: Failure | None, line: Line) -> None:
        self.failure = failure
        self.line = line


class Trial:
    """A symptom tried on one anchor: outcomes by part, in the order of the entry.

    ``asked`` counts the required conditions about the log's own words and places that held (rows of tables and versions
    apart).
    """

    __slots__ = ("anchor", "asked", "captured", "decisive", "entry", "exclude", "require", "support", "symptom")

    def __init__(
        self, entry: str, symptom: str, anchor: Anchor | None, require: list[Outcome], support: list[Outcome],
        exclude: list[Outcome], captured: dict[str, str], decisive: bool, asked: int = 0,
    ) -> None:  # fmt: skip
        self.entry = entry
        self.symptom = symptom
        self.anchor = anchor
        self.require = require
        self.support = support
        self.exclude = exclude
        self.captured = captured
        self.decisive = decisive
        self.asked = asked

    @property
    def unseen(self) -> int:
        """What was asked and the log does not show: conditions, and parts of them."""
        return sum(o.parts_unseen + (o.state == "unseen") for o in self.require)
