"""The condition `package` as an author writes it."""

from __future__ import annotations

from kb.compiled_conditions import PackageCondition
from kb.conditions import rarity
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering, OneOrMore, as_list, spellings


class PackageForm(ConditionForm):
    """The log shows that this package is at work (frames, banners, versions, its file names)."""

    KIND = "package"
    KEYS = ("package",)
    MEANING = Meaning(
        write="`package: NAME`",
        holds="Frames, versions or a name in the log show that this package is at work.",
        contradicted="Never.",
    )
    EXAMPLE = ConditionExample(
        condition={"package": "trl"},
        held="trl==0.12.0",
    )

    package: OneOrMore

    def compile(self, number: Numbering) -> PackageCondition:
        literals = [number(text) for text in self.literals()]
        return {"kind": "package", "names": as_list(self.package), "literals": literals}

    def literals(self) -> list[str]:
        return [name.lower() for name in spellings(as_list(self.package))]

    def signals(self) -> list[str]:
        return []

    def rarity(self) -> int:
        return rarity.NAME
