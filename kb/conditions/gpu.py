"""The condition `gpu` or `capability` as an author writes it."""

from __future__ import annotations

from pydantic import model_validator

from kb.compiled_conditions import GpuCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering, Pattern, Range


class GpuForm(ConditionForm):
    """A GPU that the log names: a pattern over its name, a range of its compute capability."""

    KIND = "gpu"
    KEYS = ("gpu", "capability")
    MEANING = Meaning(
        write='`gpu: P`, `capability: "<8.0"`',
        holds=(
            "The log names a GPU whose name P finds, or whose compute capability lies in the range (it is known from the "
            "GPU's name, too)."
        ),
        contradicted="The log names only other GPUs.",
    )
    EXAMPLE = ConditionExample(
        condition={"gpu": "A100"},
        held="GPU 0: NVIDIA A100-SXM4-80GB",
        contradicted="GPU 0: Tesla T4",
    )

    gpu: Pattern | None = None
    capability: Range | None = None

    @model_validator(mode="after")
    def _one(self) -> GpuForm:
        if self.gpu is None and self.capability is None:
            raise ValueError("expected `gpu` (a pattern over the name), `capability` (a range) or both")
        return self

    def compile(self, number: Numbering) -> GpuCondition:
        return {"kind": "gpu", "gpu": self.gpu, "capability": self.capability}
