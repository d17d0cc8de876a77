"""What a shell block leaves to the reader: dots, words to be replaced that nothing explains, and what it deletes or ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.form import EntryFix
from kb.placeholders import HOLE

_COMMENT = re.compile(r"(?:^|\s)#.*", re.MULTILINE)
_DOTS = re.compile(r"(?<!\S)(?:\.\.\.|…)(?!\S)")
_TO_REPLACE = re.compile(
    r"OWNER|NAME|MODEL|PACKAGE|IMAGE|CKPT|BASE|BASE_MODEL|PID|ORG|OUT|VALUE|REPO|FILE|FOLDER|MODEL_DIR|MODEL_FOLDER|ADAPTER"
    r"|JOBID|REPOSITORY|HEAD_IP|BUCKET|DATASET|TOKENIZER|NODE|POD|CONTAINER|MODULE|YOUR_TOKEN|TOKEN|OUTPUT_DIR"
)
"""Words that stand for something which the reader has to put there."""
_UPPER = re.compile(r"(?<![\w$\"{.%-])[A-Z][A-Z0-9_]+(?![\w=.*%-])|(?<=[=/])[A-Z][A-Z0-9_]+\b")
_ENDS = re.compile(
    r"(?<![-\w])rm (?!-\w* *$)|\brmdir\b|\bkill (?!process)|\bpkill\b|\bkillall\b|\bprune\b|\bgit (?:clean|rm)\b|reset --hard"
    r"|\bray stop\b|\bscancel\b|\bdocker (?:rmi|stop|kill)\b|\bconda (?:env )?remove\b|\bfuser -k|--gpu-reset|\breboot\s*$",
    re.MULTILINE,
)
_SAID = re.compile(
    r"\b(?:delet|remov|throw|destroy|erase|lost\b|lose|end(?:s|ing)?\b|kill|stop|clear|empt(?:y|ies)|clean|wipe|discard|reboot"
    r"|restart|without the old|take \w+ \w+ out\b)",
    re.IGNORECASE,
)
"""Words that say what such a command does."""


_ONE_CUDA = re.compile(r"/whl/cu\d+")
"""The index of wheels for one CUDA release."""
_FOR_WHOM = re.compile(
    r"CUDA|NVIDIA|\b[Dd]rivers?\b|\b[Cc]ards?\b|\bRTX\b|Blackwell|\bGPUs?\b|\btoolkit\b|\bnvcc\b|\+cu\d+"
)
"""Words that say for which machine such a wheel is."""


def blanks(fix: EntryFix) -> Iterator[str]:
    """What the shell block of a fix leaves open, a sentence each. A comment in or above a line says what the line leaves open."""
    if fix.shell is None:
        return
    shell = HOLE.sub("x", fix.shell)
    said = " ".join([fix.do, fix.why or "", *_COMMENT.findall(shell)])
    if _DOTS.search(_COMMENT.sub("", shell)):
        yield "holds `...`, which a shell takes for an argument: leave it out, and say in a comment what belongs there"
    if fix.when is None and _ONE_CUDA.search(_COMMENT.sub("", shell)) and not _FOR_WHOM.search(said):
        yield "names the wheels of one CUDA release and does not say for which machine: add a comment (`# the CUDA of your torch`)"
    silent = "\n".join(_silent(shell.splitlines()))
    missing = [
        word for word in dict.fromkeys(_UPPER.findall(silent)) if _TO_REPLACE.fullmatch(word) and word not in said
    ]
    if missing:
        yield f"does not say what {', '.join(missing)} stands for: add a comment (`# {missing[0]}: …`)"
    if _ENDS.search(silent) and not _SAID.search(said):
        yield "deletes or ends something and does not say what: name it in `do` or in a comment"


def _silent(lines: list[str]) -> Iterator[str]:
    """The lines without a comment, and without one right above them."""
    for number, line in enumerate(lines):
        above = lines[number - 1].strip() if number else ""
        if not _COMMENT.search(line) and not above.startswith("#"):
            yield line
