"""The condition `line` as an author writes it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from kb.compiled_conditions import LineCondition
from kb.conditions import rarity
from kb.conditions.base import (
    ConditionExample,
    ConditionForm,
    Meaning,
    Numbering,
    Wording,
    as_list,
    compiled_patterns,
    required_literals,
)


class LineForm(ConditionForm):
    """A line of the log, outside of tracebacks or inside. ``at_least``: in how many lines."""

    KIND = "line"
    KEYS = ("line",)
    MEANING = Meaning(
        write="`line: P`, `at_least: N`",
        holds=(
            "P finds something in at least N lines of the log. Prefixes (times, ranks), colours and boxes are taken off "
            "first."
        ),
        contradicted="Never.",
    )
    EXAMPLE = ConditionExample(
        condition={"line": "capacitor \\d+ is low"},
        held="capacitor 3 is low",
    )

    line: Wording | list[Wording]
    at_least: Annotated[int, Field(ge=1)] = 1

    def compile(self, number: Numbering) -> LineCondition:
        return {"kind": "line", "patterns": compiled_patterns(as_list(self.line), number), "at_least": self.at_least}

    def literals(self) -> list[str]:
        return required_literals(as_list(self.line))

    def signals(self) -> list[str]:
        return []

    def rarity(self) -> int:
        return rarity.WORDS
