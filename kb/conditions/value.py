"""The condition `value` as an author writes it."""

from __future__ import annotations

from pydantic import Field, model_validator

from kb.compiled_conditions import ValueCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering, Pattern, ShortPattern


class ValueForm(ConditionForm):
    """A variable that the hook recorded in the failure's last frames (`troubleshoot run`, crash facts).

    Every pattern must match the whole text. ``name`` is a variable or what lies in it (`labels`, `inputs.labels`, `self.weight`).
    """

    KIND = "value"
    KEYS = ("value",)
    MEANING = Meaning(
        write=(
            "`value: P`, `dtype: P`, `shape: P`, `device: P`, `requires_grad: B`, `is: P`, `trainable: P`, `checkpointing: B`, "
            "`function: F`"
        ),
        holds=(
            "Crash facts show a variable of the failure's last frames (with `function`: of that function) that has all of this. "
            "Each P matches the whole text: the name (`labels`, `inputs.labels`, `self.weight`), the dtype (`float16`), the sizes "
            "(`4, 512`), the device (`cuda:0`), a number or string itself (`is`), how many parameters of a module require a "
            "gradient (`trainable`); `checkpointing` asks whether a module has gradient checkpointing on. Named groups are captured."
        ),
        contradicted="Crash facts show variables of this name with what is asked for, and none fits.",
    )
    EXAMPLE = ConditionExample(
        condition={"value": "flux|batch\\.flux", "dtype": "float16", "shape": "\\d+, 8"},
        held='flux: {"type": "torch.Tensor", "shape": [4, 8], "dtype": "float16", "device": "cpu", "requires_grad": false}',
        contradicted='flux: {"type": "torch.Tensor", "shape": [4, 8], "dtype": "float32", "device": "cpu", "requires_grad": false}',
        of_facts=True,
    )

    value: ShortPattern
    function: str | None = None
    dtype: Pattern | None = None
    shape: ShortPattern | None = None
    device: Pattern | None = None
    requires_grad: bool | None = None
    is_: ShortPattern | None = Field(default=None, alias="is")
    trainable: ShortPattern | None = None
    checkpointing: bool | None = None

    @model_validator(mode="after")
    def _some(self) -> ValueForm:
        if all(one is None for one in self._asked().values()):
            raise ValueError(
                "expected at least one of `dtype`, `shape`, `device`, `requires_grad`, `is`, `trainable`, `checkpointing`"
            )
        return self

    def _asked(self) -> dict[str, str | bool | None]:
        return {
            "dtype": self.dtype, "shape": self.shape, "device": self.device, "requires_grad": self.requires_grad, "is": self.is_,
            "trainable": self.trainable, "checkpointing": self.checkpointing,
        }  # fmt: skip

    def compile(self, number: Numbering) -> ValueCondition:
        asked = {name: given for name, given in self._asked().items() if given is not None}
        return {"kind": "value", "name": self.value, "function": self.function, "asked": asked}
