"""The condition `ranks` as an author writes it."""

from __future__ import annotations

from typing import Literal

from kb.compiled_conditions import RanksCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering


class RanksForm(ConditionForm):
    """On how many ranks the symptom's failure was seen (needs a log that names ranks)."""

    KIND = "ranks"
    KEYS = ("ranks",)
    MEANING = Meaning(
        write="`ranks: one`, `several` or `first`",
        holds="So many ranks show the matched failure; `first` means that no other rank failed before.",
        contradicted="The log names the ranks, and it is otherwise.",
    )
    EXAMPLE = ConditionExample(
        condition={"ranks": "one"},
        held="[rank1]: quux.QuuxError: the flux capacitor is empty",
        contradicted="[rank0]: quux.QuuxError: the flux capacitor is empty\n[rank1]: quux.QuuxError: the flux capacitor is empty",
    )

    ranks: Literal["one", "several", "first"]

    def compile(self, number: Numbering) -> RanksCondition:
        return {"kind": "ranks", "ranks": self.ranks}
