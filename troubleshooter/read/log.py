"""A log's bytes: in blocks of one size for the search, and again at any place that is worth a look.

A file is read where it lies, each block by the thread that searches it (its bytes stay in that core's cache) and each
place once more when it is looked at. Of a stream the last blocks are kept. Memory is used again: fresh memory for each
block would cost more than the search.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from troubleshooter.read.apart import Apart

BLOCK = 512 * 1024
"""Bytes: with the automata of the search a block fits a core's second cache."""
ALL, RAISED, NONE = 2, 1, 0
"""Which places of a block are wanted: all of them; those of exceptions, so all of a block that may hold one and none of any
other; or none, then its lines are counted only."""


class Block:
    """``size`` bytes at ``offset`` of a log."""

    __slots__ = ("_data", "_file", "offset", "size")

    def __init__(self, offset: int, size: int, *, data: bytearray | None = None, file: int = -1) -> None:
        self.offset, self.size = offset, size
        self._data, self._file = data, file

    def load(self, buffer: bytearray) -> bytearray:
        """The bytes, in the buffer (of at least its size) or where they are. A file may have become shorter.

        Raises OSError where it cannot be read.
        """
        data, at = self._data, self.size
        if data is None:
            data, at = buffer, 0
            with memoryview(buffer) as view:
                while at < self.size and (got := os.preadv(self._file, [view[at : self.size]], self.offset + at)):
                    at += got
        return data if at == len(data) else data[:at]


class Log(Protocol):
    """Where blocks and places come from.

    ``ahead``: blocks that may be taken before the first of them is done with; ``apart``: a search that was begun already.
    """

    ahead: int
    apart: Apart | None

    @property
    def size(self) -> int | None:
        """Bytes, where that is known before they are read."""

    def blocks(self) -> Iterator[Block]:
        """All blocks in order, once."""

    def take(self, start: int, stop: int) -> bytes:
        """The bytes between two offsets, as far as they are there: near the block that is looked at."""


class FileLog:
    """A file, open until it is left or closed. Raises OSError where it cannot be opened."""

    ahead = 1024

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size
        self.apart: Apart | None = None

    def __enter__(self) -> FileLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a search that was begun is ended first."""
        if self.apart is not None:
            self.apart.close()
        self._file.close()

    def blocks(self) -> Iterator[Block]:
        return map(self.block, range(-(-self.size // BLOCK)))

    def block(self, number: int) -> Block:
        """The block of this number, counted from 0."""
        offset = number * BLOCK
        return Block(offset, min(BLOCK, self.size - offset), file=self._file.fileno())

    def take(self, start: int, stop: int) -> bytes:
        start = max(start, 0)
        stop = min(stop, self.size)
        return os.pread(self._file.fileno(), stop - start, start) if stop > start else b""


class StreamLog:
    """Chunks that come once, of any size."""

    ahead = 6
    size: int | None = None
    apart: Apart | None = None
    _KEPT = ahead + 6  # those under way, and those around the place that is looked at

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._kept: deque[tuple[int, bytearray]] = deque()

    def blocks(self) -> Iterator[Block]:
        offset = at = 0
        data = self._room()
        view = memoryview(data)
        for chunk in self._chunks:
            rest = chunk
            while rest:
                part = rest[: BLOCK - at]
                view[at : at + len(part)] = part
                at += len(part)
                rest = rest[len(part) :]
                if at == BLOCK:
                    self._kept.append((offset, data))
                    yield Block(offset, at, data=data)
                    offset, at = offset + at, 0
                    data = self._room()
                    view = memoryview(data)
        view.release()
        if at:
            data = data[:at]
            self._kept.append((offset, data))
            yield Block(offset, at, data=data)

    def _room(self) -> bytearray:
        return self._kept.popleft()[1] if len(self._kept) >= self._KEPT else bytearray(BLOCK)

    def take(self, start: int, stop: int) -> bytes:
        start = max(start, 0)
        parts = [
            memoryview(data)[max(start - offset, 0) : stop - offset]
            for offset, data in self._kept
            if offset < stop and start < offset + len(data)
        ]
        return b"".join(parts)
