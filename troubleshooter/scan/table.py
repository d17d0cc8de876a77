"""A table that moves from memory into a temporary file as it grows: a bucket may hold more logs than memory holds names."""

from __future__ import annotations

import sqlite3
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from kb.errors import TroubleshootError

MEMORY_KIB = 32 * 1024
"""So much of a table is held in memory."""


class NoRoom(TroubleshootError):
    """The temporary file cannot be written or read."""


class TemporaryTable:
    """A table ``kept`` of SQLite, in a nameless file that vanishes with the process. ``columns`` are its columns, with a key.

    Its methods raise `NoRoom` where the disk is full. Texts are stored as `packed`, since a name of a file may be no UTF-8.
    """

    def __init__(self, columns: str) -> None:
        self._connection = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for command in (
            f"PRAGMA cache_size = -{MEMORY_KIB}", "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF",
            f"CREATE TABLE kept ({columns}) WITHOUT ROWID", "BEGIN",
        ):  # fmt: skip
            self._connection.execute(command)
        weakref.finalize(self, self._connection.close).atexit = False

    def do(self, command: str) -> None:
        """Run a command without a result."""
        list(self.ask(command))

    def add(self, rows: Iterable[tuple[Any, ...]], count: int) -> None:
        """Add rows of ``count`` columns; a later one replaces an earlier one with its key. ``rows`` may ask the table itself."""
        try:
            self._connection.executemany(f"INSERT OR REPLACE INTO kept VALUES ({', '.join('?' * count)})", rows)
        except sqlite3.OperationalError as error:
            raise _no_room(error) from error

    def ask(self, command: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """The rows that a command finds, read as they are needed."""
        try:
            yield from self._connection.execute(command, values)
        except sqlite3.OperationalError as error:
            raise _no_room(error) from error

    def function(self, name: str, function: Callable[[bytes], bytes]) -> None:
        """Make a function known to the commands; it must always give the same for the same."""
        self._connection.create_function(name, 1, function, deterministic=True)


def packed(text: str) -> bytes:
    """Any text as bytes, in the same order as the texts."""
    return text.encode("utf-8", "surrogatepass")


def unpacked(stored: bytes) -> str:
    """The text of `packed` bytes."""
    return stored.decode("utf-8", "surrogatepass")


def _no_room(error: sqlite3.OperationalError) -> NoRoom:
    return NoRoom(
        f"the list of jobs does not fit into {tempfile.gettempdir()}: {error}; "
        "set SQLITE_TMPDIR to a folder on a disk with more room"
    )
