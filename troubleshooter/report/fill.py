"""Fills the placeholders ``<<name:type|default>>`` of titles, causes and fixes with values from the log.

A log is hostile input, and people paste what we print. So a value must fit its type, contains no newline, control or
bidirectional character, and is quoted in a shell command.
"""

from __future__ import annotations

import re
import shlex

from kb import lazy
from kb.placeholders import HOLE, TYPES

_TYPES = {name: lazy.compile(pattern) for name, pattern in TYPES.items()}
UNSAFE = lazy.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""A control, zero-width or bidirectional character."""


def fill(text: str, values: dict[str, str], *, shell: bool = False) -> str | None:
    """The text with its placeholders filled; None if a value without a default is missing or does not fit its type."""
    missing = False

    def value(found: re.Match[str]) -> str:
        nonlocal missing
        given = values.get(found["name"])
        if given is not None and fits(given, found["type"] or "word"):
            return shlex.quote(given) if shell else given
        if found["default"] is None:
            missing = True
            return ""
        return found["default"]

    out = HOLE.sub(value, text)
    return None if missing else out


def fits(value: str, type_: str) -> bool:
    """Whether a captured value is of the type and safe to print and paste."""
    pattern = _TYPES.get(type_)
    return pattern is not None and pattern.fullmatch(value) is not None and _bare(value) == value


def safe(text: str, limit: int = 2000) -> str:
    """A line of the log that is safe to print: it has no control, escape or bidirectional characters, and its length is
    bounded."""
    text = _bare(text.replace("\t", "    "))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _bare(text: str) -> str:
    """The text with a mark for each unsafe character. No mark is printable."""
    return text if text.isprintable() else UNSAFE.sub("\ufffd", text)
