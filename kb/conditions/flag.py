"""The condition `flag` as an author writes it."""

from __future__ import annotations

from kb.compiled_conditions import FlagCondition
from kb.conditions import rarity
from kb.conditions.base import (
    ConditionExample,
    ConditionForm,
    Meaning,
    Numbering,
    OneOrMore,
    Pattern,
    as_list,
    spellings,
)


class FlagForm(ConditionForm):
    """A launch flag or option that the log shows (``--fp16 True``, ``fp16=True``, ``"fp16": true``)."""

    KIND = "flag"
    KEYS = ("flag",)
    MEANING = Meaning(
        write="`flag: NAME`, `value: P`",
        holds=(
            'The log shows this option: `--fp16 True`, `fp16=True`, `"fp16": true` or `fp16: true`. P must match the whole '
            "value."
        ),
        contradicted="The log shows the option with another value.",
    )
    EXAMPLE = ConditionExample(
        condition={"flag": "fp16", "value": "[Tt]rue"},
        held="python train.py --fp16 True",
        contradicted="python train.py --fp16 False",
    )

    flag: OneOrMore
    value: Pattern | None = None

    def compile(self, number: Numbering) -> FlagCondition:
        literals = [number(text) for text in self.literals()]
        return {"kind": "flag", "names": as_list(self.flag), "value": self.value, "literals": literals}

    def literals(self) -> list[str]:
        return [name.lower() for name in spellings(as_list(self.flag))]

    def signals(self) -> list[str]:
        return []

    def rarity(self) -> int:
        return rarity.NAME
