"""What every block of a large log is searched for: words of failures, and what is printed without one (`kb.standing`).

It is known before the rest of the knowledge is read, so that the search of a large log can begin at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import cast

import hyperscan

from kb.compiled import Pack
from kb.error_words import ERROR_WORDS, SHORTEST, weight
from troubleshooter.read.database import EACH, ONCE, database

DENSE = 64
"""Error words in one block from which on it is searched for every literal instead: only a few kinds of them matter."""

MARKS = (
    "traceback (most recent",
    "': nan", "=nan", ": nan", "'nan'", '"nan"', "': inf", "=inf", ": inf", "'inf'", '"inf"', "'-inf'",
    "'loss': 0.0,", "'loss': '0'", "'grad_norm': 0.0,", "'grad_norm': '0'", "'learning_rate': 0.0,", '"loss": 0.0,',
)  # fmt: skip
"""Tracebacks and anomalies of metrics make a place worth a look, in lower case (beside what `kb.standing` tells)."""


class Standing:
    """The search of blocks; each thread has a `Surveyor` of its own for it."""

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
        self._everything: Sequence[str] = ()
        self._long: set[int] | None = None

    @classmethod
    def of(cls, packs: Sequence[Pack], cache: Path | None) -> Standing:
        """What these packs ask for."""
        return cls(chain.from_iterable(pack.standing for pack in packs), cache, "-".join(p.digest for p in packs))

    def complete(self, lines: hyperscan.Database | None, everything: Sequence[str]) -> None:
        """Give what dense blocks are searched for."""
        self._lines, self._everything = lines, everything
        self._completed = True

    def surveyor(self) -> Surveyor:
        """A searcher of blocks, for one thread."""
        with self._lock:
            if self._blocks is None:
                flags = [EACH] * len(ERROR_WORDS) + [ONCE] * len(self._alone)
                self._blocks = database(
                    (*ERROR_WORDS, *self._alone), flags, self._cache, f"{self.key}-blocks"
                )  # fmt: skip
            assert self._blocks is not None
            return Surveyor(self, self._blocks)

    def every_literal(self) -> tuple[hyperscan.Database | None, Collection[int]]:
        """What finds every literal, and the numbers of those that make a place worth a look."""
        if not self._completed and self.complete_by is not None:
            self.complete_by()
        with self._lock:
            if self._long is None:
                alone = set(self._alone)
                self._long = {n for n, text in enumerate(self._everything) if weight(text) >= SHORTEST or text in alone}
            return self._lines, self._long


class Surveyor:
    """Finds the places of a block of a large log that are worth a look. It lets other threads run while it searches."""

    def __init__(self, standing: Standing, blocks: hyperscan.Database) -> None:
        self._standing = standing
        self._blocks = blocks
        self._scratch = hyperscan.Scratch(blocks)
        self._lines_scratch: hyperscan.Scratch | None = None
        self._ends: list[int] = []
        place, words, left = self._ends.append, len(ERROR_WORDS), [0]
        self._left = left

        def error_or_alone(number: int, start: int, stop: int, flags: int, context: object) -> bool:
            place(stop)
            if number < words:
                left[0] -= 1
                return left[0] < 0
            return False

        self._error_or_alone = error_or_alone

    def ends(self, block: bytes | bytearray) -> list[int]:
        """Offsets after what was found, ascending: every error word and the first of each other literal; of a block
        dense with error words, the first of each literal there is."""
        ends = self._ends
        ends.clear()
        self._left[0] = DENSE
        if not block:
            return []
        data = cast("bytes", block)  # any buffer will do
        try:
            self._blocks.scan(data, match_event_handler=self._error_or_alone, scratch=self._scratch)
        except hyperscan.ScanTerminated:
            ends.clear()
            self._every_literal(data)
        return sorted(set(ends))

    def _every_literal(self, data: bytes) -> None:
        lines, long = self._standing.every_literal()
        place = self._ends.append
        if lines is None:
            return

        def literal(number: int, start: int, stop: int, flags: int, context: object) -> None:
            if number in long:
                place(stop)

        self._lines_scratch = self._lines_scratch or hyperscan.Scratch(lines)
        lines.scan(data, match_event_handler=literal, scratch=self._lines_scratch)
