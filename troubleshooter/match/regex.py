"""Patterns of entries, run by RE2: linear in the text whatever an entry or a log says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import re2

MATCHES = 6
"""At most this many matches of one pattern in one text are told apart."""
MAX_KEPT_TEXT = 1000
"""The matches in a text of at most this many characters are kept, because the logs of a scan repeat the same texts."""
MAX_COMPILED = 768
"""Patterns that stay compiled. All those of the shipped entries would fill the memory of each process of a scan, and one is
quickly compiled again (docs/decisions/0001)."""
MAX_PATTERN_BYTES = 128 * 1024
"""Memory of a compiled pattern with the states that RE2 keeps for it while it searches (RE2's own default is 8 MiB)."""


def _options(max_bytes: int | None = None) -> Any:
    options = re2.Options()
    options.log_errors = False
    if max_bytes is not None:
        options.max_mem = max_bytes
    return options


_small, _large = _options(MAX_PATTERN_BYTES), _options()


class RegexMatch(NamedTuple):
    """What matched, and what its named groups captured."""

    said: str
    captured: dict[str, str]


@lru_cache(maxsize=MAX_COMPILED)
def compiled(pattern: str) -> Any:
    """The compiled pattern; `kb.patterns` has checked its syntax. ``^`` and ``$`` match at the ends of a line, so that many
    lines can be searched as one text."""
    try:
        return re2.compile(f"(?m){pattern}", _small)
    except re2.error:  # too large: repetitions such as .{0,900}
        return re2.compile(f"(?m){pattern}", _large)


def search(pattern: str, text: str) -> RegexMatch | None:
    """The first match anywhere in the text, or None."""
    return _kept_search(pattern, text) if len(text) <= MAX_KEPT_TEXT else _search(pattern, text)


def _search(pattern: str, text: str) -> RegexMatch | None:
    found = compiled(pattern).search(text)
    return None if found is None else _found(found)


def _found(match: Any) -> RegexMatch:
    return RegexMatch(match.group(), {name: value for name, value in match.groupdict().items() if value is not None})


def different(pattern: str, text: str) -> Sequence[RegexMatch]:
    """The matches that captured different values, at most `MATCHES` of them. If the pattern captures nothing, the first
    match alone."""
    return _kept_different(pattern, text) if len(text) <= MAX_KEPT_TEXT else _different(pattern, text)


def _different(pattern: str, text: str) -> Sequence[RegexMatch]:
    if "(?P<" not in pattern:
        first = search(pattern, text)
        return () if first is None else (first,)
    seen: dict[tuple[tuple[str, str], ...], RegexMatch] = {}
    for match in compiled(pattern).finditer(text):
        found = _found(match)
        seen.setdefault(tuple(found.captured.items()), found)
        if len(seen) >= MATCHES:
            break
    return tuple(seen.values())


_kept_different = lru_cache(maxsize=1024)(_different)
_kept_search = lru_cache(maxsize=1024)(_search)
