"""The condition `platform` as an author writes it."""

from __future__ import annotations

from typing import Literal

from kb.compiled_conditions import PlatformCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering


class PlatformForm(ConditionForm):
    """The platform on which the log was written."""

    KIND = "platform"
    KEYS = ("platform",)
    MEANING = Meaning(
        write="`platform: NAME`",
        holds="The log shows that it comes from this platform.",
        contradicted="The log shows another one of Windows, Linux and macOS.",
    )
    EXAMPLE = ConditionExample(
        condition={"platform": "windows"},
        held="Platform: Windows-10",
        contradicted="Platform: Linux-5.15",
    )

    platform: Literal["windows", "linux", "macos", "wsl", "colab", "kaggle", "rocm", "mps", "cpu", "notebook"]

    def compile(self, number: Numbering) -> PlatformCondition:
        return {"kind": "platform", "platform": self.platform}
