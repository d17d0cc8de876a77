"""Shortens lines that a progress bar has redrawn for hours: what follows such a bar on its line is mostly how the run ended.

A program that is killed while it draws leaves ``99%|… \\r100%|…Killed`` as one line of many megabytes, of which only the start
would be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from troubleshooter.read.text import CHUNK, LINE_LIMIT

KEPT_BYTES = LINE_LIMIT // 2 - 1
"""So much of the start and of the end of such a line is kept: together they are no longer than a line may be."""


class Shortened:
    """Chunks in which a long line that is redrawn (it holds a carriage return) has only its start and its end."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self.dropped = 0
        """Bytes that were left out."""

    def __iter__(self) -> Iterator[bytes]:
        given = 0  # bytes of the line under way that were given out
        redrawn = False  # whether they hold a carriage return
        held: bytes | None = None  # the end so far of a line of which no more is given out
        is_cut = False  # whether bytes between its start and this end were left out
        for chunk in self._slices():
            end = chunk.find(b"\n")
            stop = len(chunk) if end == -1 else end
            if (
                held is None
                and given <= KEPT_BYTES < given + stop
                and (redrawn or b"\r" in chunk[: KEPT_BYTES - given])
            ):
                yield chunk[: KEPT_BYTES - given]
                chunk, held, is_cut = chunk[KEPT_BYTES - given :], b"", False
                end = chunk.find(b"\n")
            if held is not None:
                part = chunk if end == -1 else chunk[:end]
                too_many = max(0, len(held) + len(part) - KEPT_BYTES)
                self.dropped += too_many
                is_cut = is_cut or too_many > 0
                held = (held + part)[too_many:]
                if end == -1:
                    continue
                yield self._end(held) if is_cut else held
                chunk, held, given, redrawn = chunk[end:], None, 0, False
            yield chunk
            last = chunk.rfind(b"\n")
            given = len(chunk) - last - 1 + (given if last == -1 else 0)
            if given <= KEPT_BYTES:
                redrawn = (redrawn and last == -1) or b"\r" in chunk[last + 1 :]
        if held:
            yield self._end(held) if is_cut else held

    def _end(self, held: bytes) -> bytes:
        """The end of a line from its first redraw on. What stands before that is the rest of a bar that was cut in two."""
        at = held.find(b"\r")
        self.dropped += at
        return b"\r" + held[at + 1 :]

    def _slices(self) -> Iterator[bytes]:
        """The chunks, cut so that a line under way has at most `KEPT_BYTES` of its start in one chunk."""
        for chunk in self._chunks:
            for at in range(0, len(chunk), CHUNK):
                part = chunk[at : at + CHUNK]
                start = part.rfind(b"\n") + 1
                if len(part) - start > KEPT_BYTES:
                    yield part[: start + KEPT_BYTES]
                    part = part[start + KEPT_BYTES :]
                yield part
