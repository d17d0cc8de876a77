"""What every block of a large log is searched for: words of failures, and what is printed without one (`kb.standing`).

It is known before the rest of the knowledge is read, so that the search of a large log can begin at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path

import hyperscan

from kb.compiled import Pack
from kb.error_words import ERROR_WORDS, SHORTEST, weight
from troubleshooter.read.database import EACH, ONCE, database, named

MARKS = (
    "traceback (most recent",
    "': nan", "=nan", ": nan", "'nan'", '"nan"', "': inf", "=inf", ": inf", "'inf'", '"inf"', "'-inf'",
    "'loss': 0.0,", "'loss': '0'", "'grad_norm': 0.0,", "'grad_norm': '0'", "'learning_rate': 0.0,", '"loss": 0.0,',
    "nccl warn",
)  # fmt: skip
"""Tracebacks, anomalies of metrics and warnings of NCCL make a place worth a look, in lower case (beside what `kb.standing` tells)."""

HEADER = "raceback (most"
RAISING = (HEADER, "Error", "Exception", "Interrupt", "terminate called", "FATAL", "panicked")
"""One of them stands, in just these letters, where a traceback begins and where an exception is named."""


class Standing:
    """What to search for, compiled once; each thread has a `read.surveyor.Surveyor` of its own."""

    def __init__(self, literals: Iterable[str] = (), cache: Path | None = None, key: str = "") -> None:
        """``cache``: a folder for compiled databases, or None for no cache; ``key`` names the literals there."""
        self._alone = sorted({*literals, *MARKS})
        self._cache = cache if key else None
        self.key = key
        self._lock = threading.Lock()
        self._blocks: hyperscan.Database | None = None
        self.complete_by: Callable[[], object] | None = None
        """What gives the rest when a block is dense, where nobody has given it."""
        self._completed = False
        self._lines: hyperscan.Database | None = None
        self._everything: Callable[[], Sequence[str]] = list
        self._long: set[int] | None = None

    @classmethod
    def of(cls, packs: Sequence[Pack], cache: Path | None) -> Standing:
        """What these packs ask for."""
        return cls(
            chain.from_iterable(pack.standing for pack in packs),
            cache,
            "-".join(digest[:16] for p in packs for digest, _ in p.segments),
        )

    def complete(self, lines: hyperscan.Database | None, everything: Callable[[], Sequence[str]]) -> None:
        """Give what dense blocks are searched for."""
        self._lines, self._everything = lines, everything
        self._completed = True

    @property
    def words(self) -> tuple[str, ...]:
        """What blocks are searched for: `ERROR_WORDS`, of which each place is told, then what is told once a block."""
        return (*ERROR_WORDS, *self._alone)

    def blocks(self) -> hyperscan.Database:
        """What finds the `words`."""
        with self._lock:
            if self._blocks is None:
                words = self.words
                self._blocks = database(lambda: words, self._flags(), self._cache, named(f"{self.key}-blocks", words))
            assert self._blocks is not None
            return self._blocks

    def raising(self) -> hyperscan.Database:
        """What finds the `RAISING` words."""
        made = database(lambda: RAISING, [hyperscan.HS_FLAG_SINGLEMATCH] * len(RAISING))
        assert made is not None
        return made

    def without(self, numbers: Collection[int]) -> hyperscan.Database:
        """What finds the `words` but those of these numbers (13 ms for 900 words; kept in the cache, too)."""
        kept = ["" if number in numbers else word for number, word in enumerate(self.words)]
        made = database(lambda: kept, self._flags(), self._cache, named(f"{self.key}-rest", kept))
        assert made is not None
        return made

    def _flags(self) -> list[int]:
        return [EACH] * len(ERROR_WORDS) + [ONCE] * len(self._alone)

    def every_literal(self) -> tuple[hyperscan.Database | None, Collection[int]]:
        """What finds every literal, and the numbers of those that make a place worth a look."""
        if not self._completed and self.complete_by is not None:
            self.complete_by()
        with self._lock:
            if self._long is None:
                alone = set(self._alone)
                self._long = {
                    n for n, text in enumerate(self._everything()) if weight(text) >= SHORTEST or text in alone
                }
            return self._lines, self._long
