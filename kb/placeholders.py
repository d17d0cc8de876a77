"""Placeholders of an entry's texts, ``<<name:type|default>>``: how they are written, and how they read unfilled."""

from __future__ import annotations

import re

HOLE = re.compile(r"<<(?P<name>[\w-]+)(?::(?P<type>[a-z]+))?(?:\|(?P<default>(?:[^>]|>(?!>))*))?>>")
TYPES = {
    "word": r"[\w.+/-]{1,200}",
    "identifier": r"[A-Za-z_][\w.]{0,120}",
    "version": r"v?\d{1,6}(?:\.\w{1,16}){0,5}(?:[+-][\w.]{1,32})?",
    "integer": r"-?\d{1,20}",
    "number": r"[-+]?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,4})?",
    "path": r"[\w./\\:@+ ~-]{1,400}",
    "dtype": r"(?:torch\.)?[A-Za-z]\w{1,30}",
    "text": r"[^\n\r]{1,300}",
}
"""What a value of each type looks like, as a whole. A placeholder without a type has the type ``word``."""


def general(text: str) -> str:
    """A text as it is shown without a log: defaults are filled in, and other placeholders become their name in angle
    brackets."""
    return HOLE.sub(lambda m: m["default"] if m["default"] is not None else f"<{m['name']}>", text)
