"""The condition `exit` as an author writes it."""

from __future__ import annotations

from kb.compiled_conditions import ExitCondition
from kb.conditions import rarity
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering


class ExitForm(ConditionForm):
    """An exit status of a process that the log shows, negative for a signal (137 counts as -9)."""

    KIND = "exit"
    KEYS = ("exit",)
    MEANING = Meaning(
        write="`exit: -9`",
        holds="A launcher or a shell reported this exit status. A signal is a negative number; 137 counts as -9.",
        contradicted="Only other exit statuses were reported.",
    )
    EXAMPLE = ConditionExample(
        condition={"exit": [137, -9]},
        held="exitcode  : -9 (pid: 4711)",
        contradicted="exitcode  : 1 (pid: 4711)",
    )

    exit: int | list[int]

    def compile(self, number: Numbering) -> ExitCondition:
        return {"kind": "exit", "statuses": self._statuses()}

    def signals(self) -> list[str]:
        return [f"exit:{status}" for status in self._statuses()]

    def rarity(self) -> int:
        return rarity.END

    def _statuses(self) -> list[int]:
        """A shell reports 128 + N for a process that signal N ended."""
        given = self.exit if isinstance(self.exit, list) else [self.exit]
        return [128 - status if 128 < status < 160 else status for status in given]
