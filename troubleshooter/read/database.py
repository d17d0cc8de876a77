"""A set of literals that is searched for in one pass: by Hyperscan, or by Aho-Corasick if Hyperscan is not installed.

Both are linear in the text and find the same. Hyperscan is faster, and what it compiled can be kept (docs/decisions/0018).
The environment variable ``TROUBLESHOOT_SEARCHER`` (``hyperscan`` or ``aho-corasick``) takes one of them, for tests.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from kb.errors import TroubleshootError

__all__ = ["SEARCHERS", "VARIABLE", "Database", "MissingSearcher", "Note", "database", "named"]

SEARCHERS = {
    "hyperscan": ("hyperscan", "troubleshooter.read.hyperscan_search"),
    "aho-corasick": ("ahocorasick_rs", "troubleshooter.read.aho_corasick"),
}
"""For each searcher: the package that it needs, and the module that uses it. The first one whose package is installed
is used."""
VARIABLE = "TROUBLESHOOT_SEARCHER"

Note = Callable[[int, int, int, int, object], bool | None]
"""Called for each place of a literal with: its number, 0, the offset after it, 0, None. A true result ends the search.
"""


class MissingSearcher(TroubleshootError):
    """No library that searches for literals is installed, or the one that ``TROUBLESHOOT_SEARCHER`` names is not."""


class Database(Protocol):
    """Finds literals in bytes; ASCII case is ignored."""

    @property
    def scan(self) -> Callable[..., None]:
        """``scan(text, match_event_handler=note)``: search a text. For one thread at a time."""

    def for_thread(self) -> Callable[[bytes, Note], None]:
        """A function that searches as `scan` does, beside other threads."""


def named(key: str, words: Iterable[str]) -> str:
    """A file name that is different for every key and every list of words."""
    return f"{key}-{zlib.crc32(chr(0).join(words).encode()):08x}"


def database(
    words: Callable[[], Sequence[str]],
    cache: Path | None = None,
    name: str = "",
    every: Callable[[int], bool] = lambda number: False,
) -> Database | None:
    """A database that finds the words, numbered in their order. An empty word is passed over; None if there is no other.

    Of each word its first place in a text is told, or every place where ``every(number)`` is true. ``cache``: folder for
    compiled databases. If the file ``name`` exists there, it is loaded and ``words`` is not called, so the name must tell
    these words from all others. Raises `MissingSearcher`.
    """
    made: Database | None = _searcher().make(words, every, cache, name)
    return made


def _searcher() -> Any:
    """The module that searches: the one that ``TROUBLESHOOT_SEARCHER`` names, else the first whose package is installed."""
    asked = os.environ.get(VARIABLE)
    if asked and asked not in SEARCHERS:
        raise MissingSearcher(f"{VARIABLE}={asked}: expected one of {', '.join(SEARCHERS)}")
    missing = []
    for package, module in (SEARCHERS[asked],) if asked else SEARCHERS.values():
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
            missing.append(package)
    raise MissingSearcher(
        f"no package that searches logs for known words is installed: expected {' or '.join(missing)} "
        "(docs/performance.md, Platforms)"
    )
