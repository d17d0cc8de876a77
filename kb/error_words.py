"""Words of failures, apart from what compiles entries: a search of a log must know them without loading that."""

from __future__ import annotations

ERROR_WORDS = (
    "traceback", "error", "exception", "fail", "fatal", "abort", "critical", "panic", "killed", "core dumped",
    "segmentation", "segfault", "terminate called", "out of memory", "cannot", "can't", "could not", "couldn't", "unable",
    "invalid", "unexpected", "unsupported", "not supported", "denied", "refused", "timeout", "timed out", "mismatch",
    "corrupt", "no such", "not found", "illegal", "assert", "unrecognized", "no attribute", "no module", "unhandled",
    "not implemented", "does not exist", "exceed", "too large", "too many", "too long", "sigterm", "sigkill", "bus error",
)  # fmt: skip
"""In lower case. One of them stands on nearly every line that tells of a failure, and on few lines of a healthy log."""

SHORTEST = 8
"""`weight`: a shorter literal is no more than a name, and so is one that holds but one word."""


def weight(text: str) -> int:
    """How much a literal tells: its characters, those of scripts without case (Chinese) twice."""
    return len(text) if text.isascii() else sum(1 if character.isascii() else 2 for character in text)


def error_word(text: str) -> bool:
    """Whether a text in lower case holds one of the `ERROR_WORDS`."""
    return any(word in text for word in ERROR_WORDS)
