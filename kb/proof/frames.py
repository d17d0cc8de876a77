"""Whether a condition on frames names a place, and not only a word that stands in many paths."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.conditions.base import as_list
from kb.conditions.frame import FrameForm

_WORD = re.compile(r"[\w.+-]+")
_ANY_FILE = ".py"
"""This part of a path means any Python file."""
_EVERYDAY = re.compile(
    r"/(?:train|trainer|training|utils?|main|data|datasets?|models?|run|finetune|fine_tune|eval|evaluate|test|convert|setup"
    r"|app|loader|args|arguments|config|generate|inference|infer|preprocess|launch|sample|loss|losses|layers|attention"
    r"|optim|optimizer|tokenizer|tokenization|collate|collator|metrics|common|helpers|base|cli|server)\.py"
)
"""Files that everybody has among his own."""


def vague(condition: FrameForm) -> Iterator[str]:
    """What is wrong with the parts of paths that a condition names: a sentence for each vague one."""
    for part in as_list(condition.frame):
        if _WORD.fullmatch(part) and part != _ANY_FILE:
            yield f"{part!r} is also a part of other names: write the folder, /{part}/, or the file, /{part}"
        elif _EVERYDAY.fullmatch(part) and condition.function is None:
            yield f"{part!r} is also a file of users' own: name its folder, or the function"
