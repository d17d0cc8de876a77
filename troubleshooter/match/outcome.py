"""What became of a condition: held, contradicted or not seen, with the evidence."""

from __future__ import annotations

from typing import Literal

from troubleshooter.lean import dataclass, field
from troubleshooter.observe.model import Failure
from troubleshooter.read.line import Line

State = Literal["held", "contradicted", "unseen"]


def quoted(pattern: str) -> str:
    """A pattern as people read it: its backslashes are not doubled."""
    return f"'{pattern}'"


@dataclass(slots=True)
class Evidence:
    """A line that shows something, the words in it, and what it shows."""

    line: Line
    text: str
    why: str


@dataclass(slots=True)
class Outcome:
    """``parts_unseen`` counts parts of a held condition that the paste does not show (an exception's type)."""

    state: State
    said: str
    evidence: list[Evidence] = field(default_factory=list)
    captured: dict[str, str] = field(default_factory=dict)
    parts_unseen: int = 0
    length: int = 0
    """Characters that a pattern matched: how specific the words are."""
    parts: list[Outcome] = field(default_factory=list)


@dataclass(slots=True)
class Anchor:
    """What a symptom is about: an exception, or a line without one."""

    failure: Failure | None
    line: Line


@dataclass(slots=True)
class Trial:
    """A symptom tried on one anchor: outcomes by part, in the order of the entry."""

    entry: str
    symptom: str
    anchor: Anchor | None
    require: list[Outcome]
    support: list[Outcome]
    exclude: list[Outcome]
    captured: dict[str, str]
    decisive: bool
    asked: int = 0
    """Required conditions about the log's own words and places that held (rows of tables and versions apart)."""

    @property
    def unseen(self) -> int:
        """What was asked and the log does not show: conditions, and parts of them."""
        return sum(o.parts_unseen + (o.state == "unseen") for o in self.require)
