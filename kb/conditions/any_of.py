"""The condition `any` as an author writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.compiled_conditions import AnyCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering

if TYPE_CHECKING:
    from kb.conditions.base import Condition


class AnyOfForm(ConditionForm):
    """At least one of the conditions."""

    KIND = "any"
    KEYS = ("any",)
    MEANING = Meaning(
        write="`any: [conditions]`",
        holds="At least one of the conditions holds.",
        contradicted="All of them are contradicted.",
    )
    EXAMPLE = ConditionExample(
        condition={"any": [{"version": {"torch": "<2.4"}}, {"gpu": "T4"}]},
        held="torch==2.6.0\nGPU 0: Tesla T4",
        contradicted="torch==2.6.0\nGPU 0: NVIDIA A100-SXM4-80GB",
    )

    any: list[Condition]

    def compile(self, number: Numbering) -> AnyCondition:
        return {"kind": "any", "parts": [part.compile(number) for part in self.any]}

    def literals(self) -> list[str]:
        return [text for part in self.any for text in part.literals()]

    def signals(self) -> list[str]:
        return [signal for part in self.any for signal in part.signals()]

    def rarity(self) -> int:
        return min(part.rarity() for part in self.any)
