"""The condition `frame` as an author writes it."""

from __future__ import annotations

from typing import Literal

from kb.compiled_conditions import FrameCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering, OneOrMore, as_list


class FrameForm(ConditionForm):
    """A frame of the failure that the symptom's message belongs to: part of its path, and its function."""

    KIND = "frame"
    KEYS = ("frame",)
    MEANING = Meaning(
        write="`frame: part/of/path.py`, `function: F`, `at: innermost`",
        holds=(
            "The traceback of the matched exception has a frame whose path contains this part (a list means any of them), "
            "in function F. `at: innermost` looks at the last frame only. The part names a folder (`trl/trainer`, `/trl/`) or a "
            "file that one program has (`/modeling_clip.py`). For shared entries `check` refuses a bare word, and `/train.py` "
            "without a function, because users' own files are called so. `not: {frame: [/site-packages/, /dist-packages/]}` means "
            "the user's own code, `.py` any Python file."
        ),
        contradicted="The traceback is whole, and has no such frame.",
    )
    EXAMPLE = ConditionExample(
        condition={"frame": "quux/trainer.py"},
        held=(
            "Traceback (most recent call last):\n"
            '  File "/v/lib/python3.11/site-packages/quux/trainer.py", line 12, in fill\n'
            "    take()\n"
            "quux.QuuxError: the flux capacitor is empty"
        ),
        contradicted=(
            "Traceback (most recent call last):\n"
            '  File "/v/lib/python3.11/site-packages/other/loop.py", line 12, in fill\n'
            "    take()\n"
            "quux.QuuxError: the flux capacitor is empty"
        ),
    )

    frame: OneOrMore
    function: OneOrMore | None = None
    at: Literal["innermost", "anywhere"] = "anywhere"

    def compile(self, number: Numbering) -> FrameCondition:
        functions = as_list(self.function)
        return {"kind": "frame", "paths": as_list(self.frame), "functions": functions, "at": self.at}
