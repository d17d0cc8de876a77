"""Words of failures. They have a module of their own because a search of a log needs them without the compiler of
entries."""

from __future__ import annotations

ERROR_WORDS = (
    "traceback", "error", "exception", "fail", "fatal", "abort", "critical", "panic", "killed", "core dumped",
    "segmentation", "segfault", "terminate called", "out of memory", "cannot", "can't", "could not", "couldn't", "unable",
    "invalid", "unexpected", "unsupported", "not supported", "denied", "refused", "timeout", "timed out", "mismatch",
    "corrupt", "no such", "not found", "illegal", "assert", "unrecognized", "no attribute", "no module", "unhandled",
    "not implemented", "does not exist", "exceed", "too large", "too many", "too long", "sigterm", "sigkill", "bus error",
)  # fmt: skip
"""Words in lower case. Nearly every line that reports a failure contains one of them, and few lines of a healthy log
do."""

SHORTEST = 8
"""A literal with less `weight` is no more than a name, and so is a literal that contains only one word."""


def weight(text: str) -> int:
    """How specific a literal is: the number of its characters; those of scripts without case (Chinese) count twice."""
    return len(text) if text.isascii() else sum(1 if character.isascii() else 2 for character in text)


def error_word(text: str) -> bool:
    """Whether a text in lower case contains one of the `ERROR_WORDS`."""
    return any(word in text for word in ERROR_WORDS)
