"""Scans one block of a large log: finds the places that are worth reading, and counts the lines."""

from __future__ import annotations

from typing import NamedTuple, cast

import stringzilla

from kb.error_words import ERROR_WORDS
from troubleshooter.read.large.blocks import Block
from troubleshooter.read.large.prefilter import MAX_ERROR_WORDS, Prefilter
from troubleshooter.read.text import CHUNK, LINE_LIMIT

BEFORE_BYTES, AFTER_BYTES = 120, 80
"""This many bytes of a line are kept before and after the end of a find."""
_ONE_A_LINE = bytes(byte == ord("\n") for byte in range(256))
_TRANSLATES_FAST = not {"ice", "neon", "sve"}.isdisjoint(stringzilla.__capabilities__)


class Hit(NamedTuple):
    """A place worth reading: the offsets in the log of its line's start and of its own end, and the text of the line
    around that end."""

    line_start: int
    end: int
    text: bytes


class ScannedBlock(NamedTuple):
    """A block, its hits in the order of the log, and the number of line ends in each `CHUNK` of it."""

    block: Block
    hits: list[Hit]
    line_ends: list[int]


class BlockScanner:
    """Scans blocks, for one thread. The hits of a block depend only on its bytes."""

    def __init__(self, prefilter: Prefilter) -> None:
        self._prefilter = prefilter
        self._search = prefilter.usual.for_thread()

    def scan(self, block: Block) -> ScannedBlock:
        view = memoryview(block.data)
        line_ends = [count_line_ends(view[i : i + CHUNK]) for i in range(0, len(view), CHUNK)]
        return ScannedBlock(block, [_hit(block, view, end) for end in self._ends(block.data)], line_ends)

    def _ends(self, data: bytearray) -> list[int]:
        """The offsets after the finds, ascending."""
        errors: list[int] = []
        others: dict[int, int] = {}

        def found(number: int, start: int, stop: int, flags: int, context: object) -> bool:
            if number >= len(ERROR_WORDS):
                others.setdefault(number, stop)
            else:
                errors.append(stop)
            return len(errors) > MAX_ERROR_WORDS

        self._search(cast("bytes", data), found)
        if len(errors) > MAX_ERROR_WORDS:
            return self._dense_ends(data)
        return sorted({*errors, *others.values()})

    def _dense_ends(self, data: bytearray) -> list[int]:
        ends: set[int] = set()

        def found(number: int, start: int, stop: int, flags: int, context: object) -> None:
            ends.add(stop)

        if (dense := self._prefilter.dense) is not None:
            dense.for_thread()(cast("bytes", data), found)
        return sorted(ends)


def _hit(block: Block, view: memoryview, end: int) -> Hit:
    data = block.data
    start = data.rfind(b"\n", max(0, end - LINE_LIMIT), end - 1) + 1
    stop = data.find(b"\n", end, end + AFTER_BYTES)
    text = view[max(start, end - BEFORE_BYTES) : end + AFTER_BYTES if stop == -1 else stop]
    return Hit(block.offset + start, block.offset + end, bytes(text))


def count_line_ends(part: bytes | memoryview) -> int:
    """How many line ends there are (`bytes.count` looks at byte after byte up to Python 3.12). Where the processor looks up
    64 bytes in a table at once, ones are summed instead (docs/decisions/0005)."""
    if _TRANSLATES_FAST:
        return int(stringzilla.bytesum(stringzilla.translate(part, _ONE_A_LINE)))
    return int(stringzilla.count(part, b"\n"))
