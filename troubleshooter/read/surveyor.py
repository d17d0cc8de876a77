"""The search of one block after the other for what `read.standing` holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import hyperscan

from kb.error_words import ERROR_WORDS
from troubleshooter.read.standing import Standing

DENSE = 64
"""Error words in one block from which on it is searched for every literal instead: only a few kinds of them matter."""
START = 32 * 1024
"""Bytes at a block's start: a word that is told once a block, and stands there, need not be looked for in the rest."""
FREQUENT = 64
"""Times in so many bytes from which on a word is worth leaving out: each costs the search 15 ns."""
PATIENCE, DATABASES = 16, 3
"""Blocks with such words before the first database without them is made (13 ms), and how many are made at most."""


class Surveyor:
    """Finds the places of a block of a large log that are worth a look. It lets other threads run while it searches."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._blocks = standing.blocks()
        self._scratch = hyperscan.Scratch(self._blocks)
        self._lines_scratch: hyperscan.Scratch | None = None
        self._raising: hyperscan.Database | None = None
        self._frequent = _Frequent(standing)
        self._errors: list[int] = []  # where error words end
        self._once: dict[int, int] = {}  # where the first of each other word ends, by its number

    def ends(self, block: bytes | bytearray) -> list[int]:
        """Offsets after what was found, ascending: every error word and the first of each other literal; of a block
        dense with error words, the first of each literal there is."""
        self._errors.clear()
        self._once.clear()
        if not block:
            return []
        frequent = self._frequent
        try:
            if frequent.numbers:
                self._search(self._blocks, self._scratch, block, 0, START)
                usual = frequent.numbers <= self._once.keys()
                rest, scratch = (frequent.rest, frequent.scratch) if usual else (self._blocks, self._scratch)
                self._search(rest, scratch, block, START, len(block))
            else:
                usual = False
                self._search(self._blocks, self._scratch, block, 0, len(block))
        except hyperscan.ScanTerminated:
            return sorted(set(self._every_literal(block)))
        if self._once and not usual:
            frequent.learn(block, self._once)
        return sorted({*self._errors, *self._once.values()})

    def may_raise(self, block: bytes | bytearray) -> bool:
        """Whether a block may hold a traceback's header or an exception's name."""
        if self._raising is None:
            self._raising = self._standing.raising()
        try:
            self._raising.scan(cast("bytes", block), match_event_handler=_stop)
        except hyperscan.ScanTerminated:
            return True
        return False

    def _search(
        self, database: hyperscan.Database, scratch: hyperscan.Scratch, block: bytes | bytearray, low: int, high: int
    ) -> None:
        """Note what ends between the two offsets. Raises ScanTerminated when the block is `DENSE`."""
        errors, once, words = self._errors, self._once, len(ERROR_WORDS)
        base = max(low - self._frequent.longest, 0)

        def hit(number: int, start: int, stop: int, flags: int, context: object) -> bool:
            stop += base
            if number >= words:
                if stop > low:
                    once.setdefault(number, stop)
                return False
            if stop > low:
                errors.append(stop)
            return len(errors) > DENSE

        whole = not low and high == len(block)
        with memoryview(block) as view:
            data = cast("bytes", block if whole else view[base:high])  # any buffer will do
            database.scan(data, match_event_handler=hit, scratch=scratch)

    def _every_literal(self, block: bytes | bytearray) -> list[int]:
        lines, long = self._standing.every_literal()
        ends: list[int] = []
        if lines is None:
            return ends

        def literal(number: int, start: int, stop: int, flags: int, context: object) -> None:
            if number in long:
                ends.append(stop)

        self._lines_scratch = self._lines_scratch or hyperscan.Scratch(lines)
        lines.scan(cast("bytes", block), match_event_handler=literal, scratch=self._lines_scratch)
        return ends


def _stop(number: int, start: int, stop: int, flags: int, context: object) -> bool:
    return True


class _Frequent:
    """Words that stand on line after line of this log, though they are told once a block: NaN in each line of metrics.

    The search passes over each of them again, which took it three times as long. What is found does not depend on them,
    only the time does.
    """

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._sizes = [len(text.encode()) for text in standing.words]
        self.longest = max(self._sizes)
        self.numbers: frozenset[int] = frozenset()
        self.rest: hyperscan.Database
        self.scratch: hyperscan.Scratch
        self._blocks = 0
        self._next = PATIENCE
        self._made = 0

    def learn(self, block: bytes | bytearray, once: Mapping[int, int]) -> None:
        """Look, in few of the blocks, whether words that were found are frequent."""
        self._blocks += 1
        if self._blocks < self._next or self._made == DATABASES:
            return
        self._next *= 2
        found = frozenset(
            number
            for number, stop in once.items()
            if block.count(block[stop - self._sizes[number] : stop], stop, stop + START) >= FREQUENT
        )
        if found:
            self._made += 1
            self.numbers = found
            self.rest = self._standing.without(found)
            self.scratch = hyperscan.Scratch(self.rest)
