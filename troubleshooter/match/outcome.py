"""The outcome of a condition (held, contradicted or not seen) with the evidence for it."""

from __future__ import annotations

from typing import Literal

from troubleshooter.observe.model import Failure
from troubleshooter.read.line import Line

State = Literal["held", "contradicted", "unseen"]


def quoted(pattern: str) -> str:
    """A pattern as people read it: its backslashes are not doubled."""
    return f"'{pattern}'"


class Evidence:
    """A line of the log, the words in it that prove something, and what they prove."""

    __slots__ = ("line", "text", "why")

    def __init__(self, line: Line, text: str, why: str) -> None:
        self.line = line
        self.text = text
        self.why = why


class Outcome:
    """The outcome of a condition, the lines that show it, and the values that its patterns captured.

    ``parts_unseen``: how many parts of a held condition the paste does not show, such as an exception's type.
    ``length``: how many characters a pattern matched, which tells how specific the words are.
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
    """The thing that a symptom is about: an exception, or a line that belongs to none."""

    __slots__ = ("failure", "line")

    def __init__(self, failure: Failure | None, line: Line) -> None:
        self.failure = failure
        self.line = line


class Trial:
    """A symptom tried on one anchor, with the outcomes of its conditions in the order of the entry.

    ``asked``: how many required conditions held that are about the log's words and places. Conditions about versions or
    rows of tables are not counted. ``deciding``: the names of the entry's decisive symptoms that hold.
    """

    __slots__ = ("anchor", "asked", "captured", "deciding", "entry", "exclude", "require", "support", "symptom")

    def __init__(
        self, entry: str, symptom: str, anchor: Anchor | None, require: list[Outcome], support: list[Outcome],
        exclude: list[Outcome], captured: dict[str, str], deciding: set[str], asked: int = 0,
    ) -> None:  # fmt: skip
        self.entry = entry
        self.symptom = symptom
        self.anchor = anchor
        self.require = require
        self.support = support
        self.exclude = exclude
        self.captured = captured
        self.deciding = deciding
        self.asked = asked

    @property
    def decisive(self) -> bool:
        """Whether the conditions alone name the cause."""
        return bool(self.deciding)

    @property
    def unseen(self) -> int:
        """How many required conditions, and parts of conditions, the log does not show."""
        return sum(o.parts_unseen + (o.state == "unseen") for o in self.require)
