"""Decompress files, as far as they can be read.

A file's first bytes decide how it is decompressed, not its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import IO, Any, Literal, Protocol

from kb.errors import TroubleshootError
from troubleshooter.read.text import CHUNK

Packing = Literal["gzip", "xz", "bzip2", "zstd"]

MAGIC_BYTES = 10
"""This many first bytes show how a file is compressed."""


class Damaged(Exception):
    """A compressed file ends too early, or its bytes are wrong from some place on."""


class MissingDecoder(TroubleshootError):
    """A compressed file in a form that this installation cannot read."""


class _Reader(Protocol):
    def read1(self, size: int, /) -> bytes: ...


def packing(head: bytes) -> Packing | None:
    """The compression of a file with these first bytes; None if it is not compressed."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):  # a block, or the end
        return "bzip2"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    return None


def unpacked(file: IO[bytes], kind: Packing) -> Iterator[bytes]:
    """The bytes, in chunks of about `CHUNK`. Raises `Damaged` after the last chunk that could be had."""
    reader: _Reader | None = None
    while True:
        try:
            reader = reader or _OPEN[kind](file)
            chunk = reader.read1(CHUNK)
        except ImportError as error:
            raise MissingDecoder(f"{kind}: this Python has no decoder for it; install the package zstandard") from error
        except TroubleshootError:  # the bytes cannot be had: that is no damage to them
            raise
        except Exception as error:  # each decoder has error classes of its own, which share no base
            raise Damaged(str(error) or type(error).__name__) from error
        if not chunk:
            return
        yield chunk


def _gzip(file: IO[bytes]) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=file)


def _xz(file: IO[bytes]) -> Any:
    import lzma

    return lzma.LZMAFile(file)


def _bzip2(file: IO[bytes]) -> Any:
    import bz2

    return bz2.BZ2File(file)


def _zstd(file: IO[bytes]) -> Any:
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        return _Zstandard(file)
    return zstd.ZstdFile(file)


_OPEN: dict[Packing, Callable[[IO[bytes]], _Reader]] = {"gzip": _gzip, "xz": _xz, "bzip2": _bzip2, "zstd": _zstd}


class _Zstandard:
    """A reader for the package ``zstandard`` that notices where a file was cut. The package's own reader takes a cut
    file for a complete one."""

    STEP = 1024
    """Bytes that are given at once: a block of 4 bytes may hold 128 KiB."""

    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        self._file = file
        self._make = zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._rest = b""

    def read1(self, size: int) -> bytes:
        """The next bytes, of any size; none at the end. Raises EOFError where the file ends within a frame."""
        while raw := self._rest or self._file.read(self.STEP):
            self._frame = self._frame or self._make()
            data: bytes = self._frame.decompress(raw)
            self._rest = b""
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
            if data:
                return data
        if self._frame is not None:
            raise EOFError("the file ends in the middle of a frame")
        return b""
