"""What a place tells of a file, and which of its files are logs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import RawIOBase
from typing import NamedTuple, Protocol

from troubleshooter.read.folder import Skip, named_like_a_log


class ListedLog(NamedTuple):
    """A file: its whole name, what tells a change of it, when it was last written to (seconds since 1970; 0 is unknown), and
    its size (0 is unknown)."""

    path: str
    stamp: str
    modified: float
    size_bytes: int = 0


class LogPlace(Protocol):
    """One store of logs, used by one thread of one process."""

    def listing(self, url: str, skip: Skip) -> Iterator[ListedLog]:
        """The logs that a URL names: a file, or all below a folder. What cannot be listed is told to ``skip``."""

    def opened(self, path: str) -> RawIOBase:
        """A file of the listing, from its start. Its reader raises `read.sources.Unreadable`."""


class FetchedFile(RawIOBase):
    """A file that is fetched block by block, so that a failure costs one block and memory holds one.

    ``fetch`` takes an offset and a length and returns so many bytes, or fewer at the end of the file.
    """

    def __init__(self, fetch: Callable[[int, int], bytes], block_bytes: int) -> None:
        super().__init__()
        self._fetch = fetch
        self._block_bytes = block_bytes
        self._block = memoryview(b"")
        self._offset = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Fill the buffer as far as the block at hand reaches; 0 at the end."""
        if not self._block and not self._ended:
            block = self._fetch(self._offset, self._block_bytes)
            self._offset += len(block)
            self._ended = len(block) < self._block_bytes
            self._block = memoryview(block)
        count = min(len(buffer), len(self._block))
        buffer[:count] = self._block[:count]
        self._block = self._block[count:]
        return count


def may_be_log(below: str) -> bool:
    """Whether a file is a log by its path below the folder that is scanned: the rule of local folders (`read.folder`)."""
    *folders, name = below.split("/")
    return bool(name) and named_like_a_log(name) and not any(folder.startswith(".") for folder in folders)
