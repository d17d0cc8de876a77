"""Texts from interpreters, libraries and models, made safe for a terminal."""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["printable"]

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)?")
_UNPRINTABLE: Final = re.compile(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def printable(said: Any) -> Any:
    """The same text, list or dict, with a space for each control character and nothing for each escape sequence."""
    if isinstance(said, str):
        return _UNPRINTABLE.sub(" ", _ESCAPES.sub("", said))
    if isinstance(said, list):
        return [printable(one) for one in said]
    if isinstance(said, dict):
        return {str(printable(key)): printable(value) for key, value in said.items()}
    return said
