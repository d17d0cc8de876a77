"""Search for literals by Hyperscan. Its speed hardly depends on the number of literals, and compiled databases can be kept.

They are kept in the user's cache by content hash; where that cannot be written they are compiled at each start. A database is machine code: it is loaded only from a folder that nobody else may write to, and only
if it is, to the byte, what was written under its name.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import hyperscan

from kb.cache import tidy, used
from kb.trusted import is_own_folder
from troubleshooter.read.database import Note

_ONCE = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
_EACH = hyperscan.HS_FLAG_CASELESS
_DIGEST_BYTES = 32
_MADE_BY = f"{getattr(hyperscan, '__version__', '')}-2"
"""A part of the file's name: the library that compiled it, and the version of the file's form."""


class HyperscanDatabase:
    """A `read.database.Database` of Hyperscan."""

    __slots__ = ("_database", "scan")

    def __init__(self, database: hyperscan.Database) -> None:
        database.scratch = hyperscan.Scratch(database)
        self._database = database
        self.scan: Callable[..., None] = (
            database.scan
        )  # used directly, without a method around it, because it is called for each line

    def for_thread(self) -> Callable[[bytes, Note], None]:
        scratch = hyperscan.Scratch(self._database)

        def search(text: bytes, note: Note) -> None:
            with suppress(hyperscan.ScanTerminated):
                self._database.scan(text, match_event_handler=note, scratch=scratch)

        return search


def make(
    words: Callable[[], Sequence[str]], every: Callable[[int], bool], cache: Path | None, name: str
) -> HyperscanDatabase | None:
    """Makes a database as `read.database.database` describes. A cache that others may write to is not used."""
    path = cache / f"{name}-{_MADE_BY}.hs" if cache is not None and is_own_folder(cache) else None
    if path is not None and (kept := _kept(path)) is not None:
        return HyperscanDatabase(kept)
    texts = words()
    numbers = [number for number, text in enumerate(texts) if text]
    if not numbers:
        return None
    made = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    made.compile(
        expressions=[texts[number].encode() for number in numbers],
        ids=numbers,
        elements=len(numbers),
        flags=[_EACH if every(number) else _ONCE for number in numbers],
        literal=True,
    )
    if path is not None:
        _keep(path, hyperscan.dumpb(made))
    return HyperscanDatabase(made)


def _kept(path: Path) -> hyperscan.Database | None:
    """The database in a file. None if there is no file, or if it is not exactly what was written under this name."""
    with suppress(OSError, hyperscan.HyperscanError):
        content = path.read_bytes()
        code = content[_DIGEST_BYTES:]
        if content[:_DIGEST_BYTES] != _digest(path.name, code):
            return None
        made = hyperscan.loadb(code, hyperscan.HS_MODE_BLOCK)
        used(path)
        return made
    return None


def _keep(path: Path, code: bytes) -> None:
    """Write a database after its digest. If the cache cannot be written, do nothing."""
    temporary = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            temporary.write_bytes(_digest(path.name, code) + code)
            os.replace(temporary, path)
        except OSError:  # a full disk: leave nothing there
            temporary.unlink(missing_ok=True)
        tidy(path.parent)


def _digest(name: str, code: bytes) -> bytes:
    """Over the name too: the database of other words under this name would find nothing, and say so of every log.

    SHA-256, as processors have instructions for it (docs/decisions/0001).
    """
    digest = hashlib.sha256(name.encode())
    digest.update(code)
    return digest.digest()
