"""The condition `not` as an author writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from kb.compiled_conditions import NotCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering

if TYPE_CHECKING:
    from kb.conditions.base import Condition


class NotForm(ConditionForm):
    """The condition does not hold."""

    KIND = "not"
    KEYS = ("not",)
    MEANING = Meaning(
        write="`not: condition`",
        holds="The condition is contradicted, or it was not seen although a log with it would show it.",
        contradicted="The condition holds.",
    )
    EXAMPLE = ConditionExample(
        condition={"not": {"version": {"torch": "<2.4"}}},
        held="torch==2.6.0",
        contradicted="torch==2.1.0",
    )

    not_: Annotated[Condition, Field(alias="not")]

    def compile(self, number: Numbering) -> NotCondition:
        return {"kind": "not", "part": self.not_.compile(number)}
