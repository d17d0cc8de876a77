"""The condition `all` as an author writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.compiled_conditions import AllCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering, rarest

if TYPE_CHECKING:
    from kb.conditions.base import Condition


class AllOfForm(ConditionForm):
    """All of the conditions."""

    KIND = "all"
    KEYS = ("all",)
    MEANING = Meaning(
        write="`all: [conditions]`",
        holds="All of the conditions hold. In `exclude` each of them must really be seen.",
        contradicted="One of them is contradicted.",
    )
    EXAMPLE = ConditionExample(
        condition={"all": [{"version": {"torch": "<2.4"}}, {"gpu": "T4"}]},
        held="torch==2.1.0\nGPU 0: Tesla T4",
        contradicted="torch==2.6.0\nGPU 0: Tesla T4",
    )

    all: list[Condition]

    def compile(self, number: Numbering) -> AllCondition:
        return {"kind": "all", "parts": [part.compile(number) for part in self.all]}

    def literals(self) -> list[str]:
        return rarest(self.all).literals()

    def signals(self) -> list[str]:
        return rarest(self.all).signals()

    def rarity(self) -> int:
        return max(part.rarity() for part in self.all)
