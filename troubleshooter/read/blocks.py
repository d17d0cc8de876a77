"""A log's bytes in blocks of one size, in memory that is used again: fresh memory for each costs more than the search."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator

from troubleshooter.read.text import CHUNK

BLOCK = 512 * 1024
"""Bytes: with the automata of the search a block fits a core's second cache."""
FEW = 32 * 1024 * 1024
"""Bytes up to which the import of a faster counter does not pay."""
_ONLY_LINE_ENDS = b"\n" * CHUNK


class Block:
    """Bytes at ``offset`` of a log, in ``data`` once it is filled.

    A block of a file is filled by the thread that searches it, so that its bytes stay in that core's cache.
    """

    __slots__ = ("_ends", "_from", "data", "offset")

    def __init__(self, offset: int, data: bytearray, file: tuple[int, int, int] | None = None) -> None:
        """``file``: a descriptor, and from where to where it is to be read."""
        self.offset, self.data = offset, data
        self._from = file
        self._ends: list[int] = []

    def fill(self) -> None:
        """Read a file's part and count its line ends, once. Raises OSError where it cannot be read."""
        if self._from is not None:
            descriptor, start, stop = self._from
            self._from = None
            at, size = 0, stop - start
            with memoryview(self.data) as view:
                while at < size and (got := os.preadv(descriptor, [view[at:size]], start + at)):
                    at += got
            self.cut(at)
        if not self._ends:
            size = len(self.data)
            with memoryview(self.data) as view:
                # Short pieces are still in the cache when they are counted.
                counts = (_line_ends(bytes(view[i : i + CHUNK]), self.offset) for i in range(0, size, CHUNK))
                self._ends = list(itertools.accumulate(counts, initial=0))

    def cut(self, size: int) -> None:
        """There are no more bytes than these."""
        if size < len(self.data):
            self.data = self.data[:size]

    @property
    def line_ends(self) -> int:
        """The number of line ends."""
        return self._ends[-1]

    def line_ends_before(self, at: int) -> int:
        """The number of line ends before a place in the block."""
        whole = at // CHUNK
        return self._ends[whole] + self.data.count(b"\n", whole * CHUNK, at)


class Buffers:
    """The memory of blocks that nobody looks at any more."""

    def __init__(self) -> None:
        self._free: list[bytearray] = []

    def take(self) -> bytearray:
        return self._free.pop() if self._free else bytearray(BLOCK)

    def give(self, data: bytearray) -> None:
        if len(data) == BLOCK:
            self._free.append(data)


def of_stream(chunks: Iterable[bytes], buffers: Buffers) -> Iterator[Block]:
    """Blocks that hold their bytes (the last may be shorter), whatever the chunks that the bytes come in."""
    block, at = Block(0, buffers.take()), 0
    view = memoryview(block.data)
    for chunk in chunks:
        rest = chunk
        while rest:
            part = rest[: BLOCK - at]
            rest = rest[len(part) :]
            view[at : at + len(part)] = part
            at += len(part)
            if at == BLOCK:
                view.release()
                yield block
                block, at = Block(block.offset + BLOCK, buffers.take()), 0
                view = memoryview(block.data)
    view.release()
    if at:
        block.cut(at)
        yield block


def of_file(descriptor: int, start: int, size: int, buffers: Buffers) -> Iterator[Block]:
    """Blocks of the ``size`` bytes from ``start`` on, to be filled by whom they are given to."""
    for offset in range(0, size, BLOCK):
        yield Block(offset, buffers.take(), (descriptor, start + offset, start + min(offset + BLOCK, size)))


def _line_ends(part: bytes, offset: int) -> int:
    """How many line ends there are: `bytes.count` looks at byte after byte up to Python 3.12, rapidfuzz at vectors of
    them."""
    if offset < FEW:
        return part.count(b"\n")
    from rapidfuzz.distance import Hamming

    return int(Hamming.similarity(part, _ONLY_LINE_ENDS if len(part) == CHUNK else b"\n" * len(part)))
