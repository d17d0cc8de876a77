"""The bytes of a large log in blocks of one size, however they arrive. The last few blocks can be read again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

BLOCK_BYTES = 512 * 1024
"""A block and the automata of the search fit together into a core's second cache."""


class Block(NamedTuple):
    """Bytes of a log and their offset in it."""

    offset: int
    data: bytearray


class Blocks:
    """The blocks of a log, in order, once. ``kept``: this many of the last blocks stay available for `take`."""

    def __init__(self, chunks: Iterable[bytes], kept: int) -> None:
        self._chunks = chunks
        self._kept: deque[Block] = deque()
        self._max_kept = kept

    def __iter__(self) -> Iterator[Block]:
        offset = filled = 0
        data = bytearray(BLOCK_BYTES)
        for chunk in self._chunks:
            rest = memoryview(chunk)
            while rest:
                part = rest[: BLOCK_BYTES - filled]
                data[filled : filled + len(part)] = part
                filled += len(part)
                rest = rest[len(part) :]
                if filled == BLOCK_BYTES:
                    yield self._keep(Block(offset, data))
                    offset, filled = offset + filled, 0
                    data = self._room()
        if filled:
            yield self._keep(Block(offset, data[:filled]))

    def take(self, start: int, stop: int) -> bytes:
        """The bytes between two offsets, as far as they are still available."""
        return b"".join(
            memoryview(data)[max(start - offset, 0) : stop - offset]
            for offset, data in self._kept
            if offset < stop and start < offset + len(data)
        )

    def _keep(self, block: Block) -> Block:
        self._kept.append(block)
        return block

    def _room(self) -> bytearray:
        """Memory for the next block. It is used again, because the system fills fresh memory with zeros first."""
        return self._kept.popleft().data if len(self._kept) >= self._max_kept else bytearray(BLOCK_BYTES)
