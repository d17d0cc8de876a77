"""Files in which every block has a checksum. A block is checked when it is read, so that reading a part checks only this part.

A file holds its content, then one CRC-32 for each block of the content, then a footer of fixed size with the content's length. An
answer reads a small part of the file and must not wait until all of it is checked (docs/decisions/0002). Checksums notice damage
(a failing disk, an interrupted copy), not malice; `kb.trusted` decides whether the files of a folder can be trusted at all.
"""

from __future__ import annotations

import errno
import mmap
import struct
import sys
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path

__all__ = ["BrokenSeal", "Sealed", "seal"]

_BLOCK = 8192
_FOOTER = struct.Struct("<8sQI")
"""Mark, bytes of content, CRC-32 of the checksums and of the two before it."""
_MARK = b"\nsealed1"


class BrokenSeal(OSError):
    """The file is not what was written. ``filename`` is its path, and ``strerror`` says so and names the next step."""


def seal(content: bytes) -> bytes:
    """The content, followed by the checksums of its blocks."""
    view = memoryview(content)
    sums = array("I", (zlib.crc32(view[at : at + _BLOCK]) for at in range(0, len(content), _BLOCK)))
    if sys.byteorder == "big":
        sums.byteswap()
    written = sums.tobytes()
    return b"".join((content, written, _footer(len(content), written)))


def _footer(length: int, sums: bytes) -> bytes:
    return _FOOTER.pack(_MARK, length, zlib.crc32(_MARK + length.to_bytes(8, "little"), zlib.crc32(sums)))


class Sealed:
    """A sealed file, mapped into memory. Every method raises `BrokenSeal` if a block that it reads was changed.

    ``remake``: a function that writes the file again with the same content (a cache has one), or None. It is called once, when
    damage is found; reading goes on in the new file if that has the same checksums.
    """

    def __init__(self, path: Path, remake: Callable[[], object] | None = None) -> None:
        """Raises OSError when the file cannot be read, `BrokenSeal` when it is cut off or not sealed."""
        self._path, self._remake = path, remake
        self._data, self.length, self._sums = self._open()
        self._good = bytearray(len(self._sums))

    def _open(self) -> tuple[mmap.mmap, int, array[int]]:
        with self._path.open("rb") as file:
            try:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            except ValueError:  # empty
                raise self._damage("is empty") from None
        if len(data) < _FOOTER.size:
            raise self._damage("is cut off")
        footer = data[-_FOOTER.size :]
        _, length, _ = _FOOTER.unpack(footer)
        count = -(-length // _BLOCK)
        written = data[length : -_FOOTER.size]
        if len(written) != 4 * count or footer != _footer(length, written):
            raise self._damage("is cut off, or was written by another version of the tool")
        sums = array("I", written)
        if sys.byteorder == "big":
            sums.byteswap()
        return data, length, sums

    def read(self, start: int, stop: int) -> bytes:
        """The bytes from ``start`` to before ``stop``; fewer where the content ends before."""
        stop = min(stop, self.length)
        self._check(start, stop)
        return self._data[start:stop]

    def find(self, wanted: bytes, start: int, stop: int | None = None) -> int:
        """The offset of the first ``wanted`` between two places (``stop``: the end of the content), -1 if there is
        none."""
        end = self.length if stop is None else min(stop, self.length)
        at = self._data.find(wanted, start, end)
        if self._check(start, end if at == -1 else at + len(wanted)):
            at = self._data.find(wanted, start, end)
        return at

    def rfind(self, wanted: bytes, start: int, stop: int) -> int:
        """The offset of the last ``wanted`` between two places, -1 if there is none."""
        end = min(stop, self.length)
        at = self._data.rfind(wanted, start, end)
        if self._check(start if at == -1 else at, end):
            at = self._data.rfind(wanted, start, end)
        return at

    def _check(self, start: int, stop: int) -> bool:
        """Check the blocks between two places that were not checked yet. Returns whether the file had to be made anew."""
        good = self._good
        for block in range(start // _BLOCK, -(-stop // _BLOCK)):
            if not good[block]:
                if not self._is_good(block):
                    self._again()
                    return self._check(start, stop) or True
                good[block] = 1
        return False

    def _is_good(self, block: int) -> bool:
        stop = min((block + 1) * _BLOCK, self.length)
        return zlib.crc32(memoryview(self._data)[block * _BLOCK : stop]) == self._sums[block]

    def _again(self) -> None:
        """Go on in a new file."""
        remake, self._remake = self._remake, None
        if remake is None:
            raise self._damage("is damaged")
        remake()
        data, length, sums = self._open()
        if (length, sums) != (self.length, self._sums):
            raise self._damage("is damaged")
        self._data, self._good = data, bytearray(len(sums))

    def _damage(self, what: str) -> BrokenSeal:
        return BrokenSeal(
            errno.EIO,
            f"{what}; delete it, it is made anew (in an installation: install the package again)",
            str(self._path),
        )
