"""Patterns of entries, run by RE2: linear in the text whatever an entry or a log says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import re2

from kb import lazy

MATCHES = 6
"""Matches of one pattern in one text that are told apart."""
SHORT = 1000
"""Characters of a text up to which its matches are kept: a thousand logs of a scan say the same."""

_options = re2.Options()
_options.log_errors = False


class Found(NamedTuple):
    """What matched, and what its named groups captured."""

    said: str
    captured: dict[str, str]


@lru_cache(maxsize=4096)
def compiled(pattern: str) -> Any:
    """The compiled pattern; `kb.patterns` has checked its syntax. Its ends are those of a line: a text as patterns see it
    (`read.text.fold`) is one, and many of them may be looked at together."""
    return re2.compile(f"(?m){pattern}", _options)


# ``.{0,300}`` is as many parts of a program: such a pattern takes 1 ms to compile, one without its bounds 0.06.
_BOUNDS = lazy.compile(r"(?s)(?P<kept>\\.|\[\^?\]?(?:\\.|[^\]\\])*\])|\{(?P<least>\d+),\d{2,}\}")


@lru_cache(maxsize=4096)
def _rough(pattern: str) -> Any:
    """The pattern without large upper bounds of repetitions, compiled: it matches wherever the pattern does. None where it
    has none."""
    if (rough := unbounded(pattern)) == pattern:
        return None
    return compiled(rough)


def unbounded(pattern: str) -> str:
    """The pattern without large upper bounds of repetitions."""
    if "{" not in pattern:
        return pattern
    return _BOUNDS.sub(lambda found: found["kept"] or ("*" if found["least"] == "0" else "+"), pattern)


class _Plain:
    """A pattern without any choice: text, which may have to stand at a line's start or end. Not compiled: it is looked for."""

    def __init__(self, start: str, text: str, end: str) -> None:
        said = _ESCAPED.sub(r"\1", text)
        self._start, self._end = "\n" if start else "", "\n" if end else ""
        self._asked = f"{self._start}{said}{self._end}"
        self._found = Found(said, {})

    def search(self, text: str) -> Found | None:
        if self._start or self._end:
            text = f"{self._start}{text}{self._end}"
        return self._found if self._asked in text else None


_PLAIN = lazy.compile(r"(\^?)((?:[^\\^$.|?*+()\[\]{}]|\\[^\w\s])+)(\$?)")
_ESCAPED = lazy.compile(r"\\(.)")


@lru_cache(maxsize=4096)
def _plain(pattern: str) -> _Plain | None:
    found = _PLAIN.fullmatch(pattern)
    return _Plain(*found.groups()) if found else None


def search(pattern: str, text: str) -> Found | None:
    """The first match anywhere in the text, or None."""
    return _kept_search(pattern, text) if len(text) <= SHORT else _search(pattern, text)


def _search(pattern: str, text: str) -> Found | None:
    if (plain := _plain(pattern)) is not None:
        return plain.search(text)
    rough = _rough(pattern)
    if rough is not None and rough.search(text) is None:
        return None
    found = compiled(pattern).search(text)
    return None if found is None else _found(found)


def _found(match: Any) -> Found:
    return Found(match.group(), {name: value for name, value in match.groupdict().items() if value is not None})


def on_a_line(pattern: str, lines: str) -> bool:
    """Whether one of many lines may match, which are given as one text: False only where none does."""
    if "\\A" in pattern or "\\z" in pattern:
        return True
    return search(pattern, lines) is not None


def different(pattern: str, text: str) -> Sequence[Found]:
    """The matches that captured different values, at most `MATCHES`; the first alone where nothing is captured."""
    return _kept_different(pattern, text) if len(text) <= SHORT else _different(pattern, text)


def _different(pattern: str, text: str) -> Sequence[Found]:
    if "(?P<" not in pattern:
        first = search(pattern, text)
        return () if first is None else (first,)
    rough = _rough(pattern)
    if rough is not None and rough.search(text) is None:
        return ()
    seen: dict[tuple[tuple[str, str], ...], Found] = {}
    for match in compiled(pattern).finditer(text):
        found = _found(match)
        seen.setdefault(tuple(found.captured.items()), found)
        if len(seen) >= MATCHES:
            break
    return tuple(seen.values())


_kept_different = lru_cache(maxsize=1024)(_different)
_kept_search = lru_cache(maxsize=1024)(_search)
