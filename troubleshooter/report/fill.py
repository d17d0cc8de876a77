"""Placeholders ``<<name:type|default>>`` of titles, causes and fixes, filled in with what the log said.

A log is hostile input and people paste what we print: a value must fit its type, holds no newline, control or
bidirectional character, and is quoted where it goes into a shell.
"""

from __future__ import annotations

import re
import shlex

from troubleshooter.read import lazy

_HOLE = lazy.compile(r"<<(?P<name>[\w-]+)(?::(?P<type>[a-z]+))?(?:\|(?P<default>[^>]*))?>>")
_TYPES = {
    "word": lazy.compile(r"[\w.+/-]{1,200}"),
    "identifier": lazy.compile(r"[A-Za-z_][\w.]{0,120}"),
    "version": lazy.compile(r"v?\d{1,6}(?:\.\w{1,16}){0,5}(?:[+-][\w.]{1,32})?"),
    "integer": lazy.compile(r"-?\d{1,20}"),
    "number": lazy.compile(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,4})?"),
    "path": lazy.compile(r"[\w./\\:@+ ~-]{1,400}"),
    "dtype": lazy.compile(r"(?:torch\.)?[A-Za-z]\w{1,30}"),
    "text": lazy.compile(r"[^\n\r]{1,300}"),
}
_UNSAFE = lazy.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def fill(text: str, values: dict[str, str], *, shell: bool = False) -> str | None:
    """The text with its placeholders filled; None when a value without default is missing or does not fit its type."""
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

    out = _HOLE.sub(value, text)
    return None if missing else out


def fits(value: str, type_: str) -> bool:
    """Whether a captured value is of the type and safe to print and paste."""
    pattern = _TYPES.get(type_)
    return pattern is not None and pattern.fullmatch(value) is not None and not _UNSAFE.search(value)


def safe(text: str, limit: int = 2000) -> str:
    """A line of the log as it may be printed: no control, escape or bidirectional character, bounded."""
    text = _UNSAFE.sub("\ufffd", text.replace("\t", "    "))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def holes(text: str) -> list[tuple[str, str, bool]]:
    """``(name, type, has default)`` of every placeholder of a text."""
    return [(m["name"], m["type"] or "word", m["default"] is not None) for m in _HOLE.finditer(text)]


def known_types() -> list[str]:
    return sorted(_TYPES)
