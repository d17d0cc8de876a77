"""The words for which the blocks of a large log are searched. Every line that is worth reading contains one of them.

Each literal that a search looks for makes it slower, and most words of an entry stand beside a word such as "error". So
blocks are searched for those words, and for the few literals that are printed without one (`kb.standing`). Where every
other line holds an error word, that tells nothing: such a block is searched for all literals of some length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

from kb.error_words import ERROR_WORDS, SHORTEST, weight
from troubleshooter.read.anomalies import ANOMALY_MARKS
from troubleshooter.read.database import Database, database, named

MAX_ERROR_WORDS = 64
"""A block with more error words than this is searched for all literals instead."""


class Prefilter:
    """The two databases, each made when it is first needed and then shared."""

    def __init__(
        self, alone: Iterable[str] = (), literals: Callable[[], Sequence[str]] = list, cache: Path | None = None,
        digest: str = "",
    ) -> None:  # fmt: skip
        """``alone``: literals that are printed without an error word, in lower case. ``literals`` gives all of them.
        ``cache``: a folder for compiled databases, used where a ``digest`` tells these literals from others."""
        self._alone = sorted({*alone, *ANOMALY_MARKS})
        self._literals = literals
        self._cache = cache if digest else None
        self._digest = digest

    @cached_property
    def usual(self) -> Database:
        """Finds every error word, numbered from 0, and the first of each other literal, numbered behind them."""
        words = [*ERROR_WORDS, *self._alone]
        name = named(f"{self._digest}-blocks", words)
        made = database(lambda: words, self._cache, name, lambda number: number < len(ERROR_WORDS))
        assert made is not None
        return made

    @cached_property
    def dense(self) -> Database | None:
        """Finds the first of each literal; of those that are hardly more than a name only what is printed alone."""
        alone = set(self._alone)
        name = named(f"{self._digest}-dense", self._alone)
        return database(lambda: [t for t in self._literals() if weight(t) >= SHORTEST or t in alone], self._cache, name)
