"""The condition `ends` as an author writes it."""

from __future__ import annotations

from typing import Literal

from kb.compiled_conditions import EndsCondition
from kb.conditions import rarity
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering


class EndsForm(ConditionForm):
    """How the log ends: in the middle of the training, or with a process that failed after it had begun to train.

    It holds only where nobody writes to the log any more.
    """

    KIND = "ends"
    KEYS = ("ends",)
    MEANING = Meaning(
        write="`ends: in-training` or `ends: failed`",
        holds=(
            "The log breaks off while more of the training was to come; or a process that had trained ended with another "
            "status than 0. It never holds for a paste, nor for a file that was written to in the last ten minutes."
        ),
        contradicted="The log shows that the run came to its end.",
    )
    EXAMPLE = ConditionExample(
        condition={"ends": "failed"},
        held=(
            "quux.QuuxError: the flux capacitor is empty\nepoch 1/3 step 100/900 loss 2.1\nexitcode  : 1 (pid: 4711)"
        ),
        contradicted="quux.QuuxError: the flux capacitor is empty\nepoch 3/3 step 900/900 loss 2.1\ndone",
    )

    ends: Literal["in-training", "failed"]

    def compile(self, number: Numbering) -> EndsCondition:
        return {"kind": "ends", "ends": self.ends}

    def signals(self) -> list[str]:
        return [f"ends:{self.ends}"]

    def rarity(self) -> int:
        return rarity.END
