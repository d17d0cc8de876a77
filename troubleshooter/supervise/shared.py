"""A little memory that the keeper and the supervisor share, so that one goes on where the other one was killed."""

from __future__ import annotations

import mmap
import struct

TAIL_BYTES = 4 << 20
"""Of output that cannot be written to the log, this much is kept, the last part."""
_NUMBERS = 4
_HEAD_BYTES = 8 * _NUMBERS


class Shared:
    """Numbers and a ring of bytes in anonymous memory: made before the fork, seen by both processes after it.

    ``passed``: up to which byte the log was passed on. ``inlet``: the number of the stream that the last bytes of the log
    came from. ``missing``: bytes that the log could not take (a full disk). ``output``: bytes that came in all.
    """

    __slots__ = ("_memory",)

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _HEAD_BYTES + TAIL_BYTES)

    def _get(self, number: int) -> int:
        return int(struct.unpack_from("=q", self._memory, 8 * number)[0])

    def _set(self, number: int, value: int) -> None:
        struct.pack_into("=q", self._memory, 8 * number, value)

    @property
    def passed(self) -> int:
        return self._get(0)

    @passed.setter
    def passed(self, value: int) -> None:
        self._set(0, value)

    @property
    def inlet(self) -> int:
        return self._get(1)

    @inlet.setter
    def inlet(self, value: int) -> None:
        self._set(1, value)

    @property
    def missing(self) -> int:
        return self._get(2)

    @property
    def output(self) -> int:
        return self._get(3)

    @output.setter
    def output(self, value: int) -> None:
        self._set(3, value)

    def keep(self, data: bytes) -> None:
        """Keep output that cannot be written to the log; the oldest is overwritten."""
        data = data[-TAIL_BYTES:]
        start = self.missing % TAIL_BYTES
        first = data[: TAIL_BYTES - start]
        self._memory[_HEAD_BYTES + start : _HEAD_BYTES + start + len(first)] = first
        rest = data[len(first) :]
        self._memory[_HEAD_BYTES : _HEAD_BYTES + len(rest)] = rest
        self._set(2, self.missing + len(data))

    def tail(self) -> bytes:
        """The last bytes of the output that could not be written to the log."""
        end = self.missing
        if end <= TAIL_BYTES:
            return self._memory[_HEAD_BYTES : _HEAD_BYTES + end]
        start = _HEAD_BYTES + end % TAIL_BYTES
        return self._memory[start:] + self._memory[_HEAD_BYTES:start]
