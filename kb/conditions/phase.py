"""The condition `phase` as an author writes it."""

from __future__ import annotations

from typing import Literal

from kb.compiled_conditions import PhaseCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering


class PhaseForm(ConditionForm):
    """What the run was doing when the failure came."""

    KIND = "phase"
    KEYS = ("phase",)
    MEANING = Meaning(
        write="`phase: NAME` (or a list)",
        holds=(
            "The run was in this phase when the failure came. Frames tell the phase, or else the output before the failure."
        ),
        contradicted="The frames show another phase.",
    )
    EXAMPLE = ConditionExample(
        condition={"phase": "save"},
        held=(
            "Traceback (most recent call last):\n"
            '  File "/v/lib/python3.11/site-packages/torch/serialization.py", line 12, in save\n'
            "    take()\n"
            "quux.QuuxError: the flux capacitor is empty"
        ),
        contradicted=(
            "Traceback (most recent call last):\n"
            '  File "/v/lib/python3.11/site-packages/torch/serialization.py", line 12, in load_state_dict\n'
            "    take()\n"
            "quux.QuuxError: the flux capacitor is empty"
        ),
    )

    phase: (
        Literal["import", "load", "preprocess", "train", "eval", "save", "resume", "generate", "merge", "build"]
        | list[Literal["import", "load", "preprocess", "train", "eval", "save", "resume", "generate", "merge", "build"]]
    )

    def compile(self, number: Numbering) -> PhaseCondition:
        phases = self.phase if isinstance(self.phase, list) else [self.phase]
        return {"kind": "phase", "phases": list(phases)}
