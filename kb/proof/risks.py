"""What the code of a fix does beyond the repair: it changes the trained result, or it may do harm.

Only what the text itself shows is looked for, so that every finding holds; whether a smaller batch changes a result is left
to the author. A fix that looks risky and is not says so with the word "harmless" in its reason or in a comment.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from kb.form import EntryFix

_EXCUSE = re.compile(r"\bharmless\b", re.IGNORECASE)
_OWN_FILE = re.compile(r"\b(?:you|your|own) (?:trust|wrote|made|own|run|file|checkpoint)\b", re.IGNORECASE)
"""Words that say whose file is unpickled."""
_HARM_IN_SHELL = (
    (re.compile(r"\bTORCH_FORCE_NO_WEIGHTS_ONLY_LOAD=(?!0)"), "runs the code that a pickle holds"),
    (re.compile(r"\bgit (?:reset --hard|clean -)|\bgit push (?:\S+ )*(?:-f|--force)\b"), "throws away work"),
    (re.compile(r"\bdocker (?:system|image|container|volume|builder) prune\b"), "deletes images and containers"),
    (re.compile(r"\bkill -(?:9|KILL)\b|\b(?:pkill|killall)\b"), "ends processes that may still be at work"),
    (re.compile(r"\bray stop\b"), "ends the Ray processes of every run on this machine"),
    (re.compile(r"\bnvidia-smi (?:\S+ )*(?:--gpu-reset|-r)\b"), "ends what runs on the GPU"),
    (re.compile(r"\bchmod (?:\S+ )*0?777\b"), "lets everybody write"),
    (re.compile(r"\brm -\w*r\w* (?:\S*/)?checkpoint-"), "deletes checkpoints"),
)


class Understated(NamedTuple):
    """What a fix that calls itself safe does, and the risk that it should name."""

    does: str
    risk: Literal["changes-results", "may-harm"]


def understated(fix: EntryFix) -> Iterator[Understated]:
    """Why a fix is not ``safe`` although it says so; nothing for fixes that name another risk."""
    said = f"{fix.do} {fix.why or ''} {fix.code or ''} {fix.shell or ''}"
    if fix.risk != "safe" or _EXCUSE.search(said):
        return
    if fix.code is not None and fix.language == "python":
        yield from _in_python(fix.code, said)
    for pattern, does in _HARM_IN_SHELL:
        if fix.shell is not None and pattern.search(fix.shell):
            yield Understated(does, "may-harm")


def _in_python(code: str, said: str) -> Iterator[Understated]:
    """The risks of Python code; none where it does not parse, which is a fault of its own."""
    try:
        tree = compile(code, "fix", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError:
        return
    dropped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        given = {word.arg: word.value.value for word in node.keywords if isinstance(word.value, ast.Constant)}
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if (given.get("weights_only") is False or given.get("allow_pickle") is True) and not _OWN_FILE.search(said):
            yield Understated(f"runs the code that a pickle holds, with {name}()", "may-harm")
        if given.get("trust_remote_code") is True and name == "load_dataset":
            yield Understated("runs the code of the data set's repository", "may-harm")
        if given.get("ignore_mismatched_sizes") is True:
            yield Understated("begins with new weights where sizes differ", "changes-results")
        if given.get("strict") is False and name == "load_state_dict" and id(node) in dropped:
            yield Understated(
                "hides which weights load_state_dict() did not load; print what it returns", "changes-results"
            )
        if given.get("drop_last") is True or given.get("dataloader_drop_last") is True:
            yield Understated("leaves samples out of the training", "changes-results")
