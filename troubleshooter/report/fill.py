"""Fills the placeholders ``<<name:type|default>>`` of titles, causes and fixes with values from the log.

A log is hostile input, and people paste what we print. So a value must fit its type, contains no newline, control or
bidirectional character, and is quoted in a shell command and escaped in a string of code.
"""

from __future__ import annotations

import re
import shlex

from kb import lazy
from kb.placeholders import HOLE, TYPES

_TYPES = {name: lazy.compile(pattern) for name, pattern in TYPES.items()}
UNSAFE = lazy.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
"""A control, zero-width or bidirectional character."""
_ESCAPING = frozenset({"python", "json"})
"""Languages of code in whose strings a backslash escapes the next character."""
_HELD = "\0"
"""A placeholder while the code around it is read."""
_PIECES = lazy.compile(
    r"(?s)#[^\n]*|(?<!\w)(?P<prefix>[A-Za-z]{0,2})(?P<quote>\"\"\"|'''|\"|')(?:\\.|(?!(?P=quote)).)*(?P=quote)|."
)
"""The parts of a block of code: a comment, a string, any other character."""


def fill(text: str, values: dict[str, str], *, shell: bool = False, language: str = "") -> str | None:
    """The text with its placeholders filled; None if a value without a default is missing or does not fit its type.

    `language` is that of a block of code: in a string of Python or JSON a value is escaped, and a value that a raw string cannot
    hold counts as missing.
    """
    missing = False
    openings = iter(_openings(text) if language in _ESCAPING and "<<" in text else [])

    def value(found: re.Match[str]) -> str:
        nonlocal missing
        opening = next(openings, "")
        given = values.get(found["name"])
        if given is not None and fits(given, found["type"] or "word"):
            written = shlex.quote(given) if shell else _in_string(given, opening)
            if written is not None:
                return written
        if found["default"] is None:
            missing = True
            return ""
        return found["default"]

    out = HOLE.sub(value, text)
    return None if missing else out


def _openings(code: str) -> list[str]:
    """For each placeholder of a block of code what opens the string around it, such as ``"`` or ``r'``; empty outside of
    strings and in comments."""
    return [
        piece["prefix"].lower() + piece["quote"] if piece["quote"] else ""
        for piece in _PIECES.finditer(HOLE.sub(_HELD, code))
        for _ in range(piece[0].count(_HELD))
    ]


def _in_string(value: str, opening: str) -> str | None:
    """The value as it is written in a string with this opening; None if such a string cannot hold it."""
    if not opening:
        return value
    quote = opening[-1]
    if "r" in opening:
        return None if quote in value or value.endswith("\\") else value
    value = value.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return value.replace("{", "{{").replace("}", "}}") if "f" in opening else value


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
