"""One scan for the literals of all entries: Hyperscan, linear in the text and nearly independent of their number.

The compiled database is kept in the user's cache by content hash; where that cannot be written it is compiled at each
start (12 ms a thousand literals).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import hyperscan

_FLAGS = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH


class Scanner:
    """Finds which of the literals a text holds (ASCII case ignored)."""

    def __init__(self, literals: Sequence[str], cache: Path | None = None) -> None:
        """``cache``: a folder for compiled databases, or None for no cache."""
        self._database = _load(literals, cache) if literals else None
        self._found: list[int] = []
        append = self._found.append

        def hit(number: int, start: int, stop: int, flags: int, context: object) -> None:
            append(number)

        self._hit = hit

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals that the text holds, each once."""
        found = self._found
        found.clear()
        if self._database is not None and text:
            self._database.scan(text, match_event_handler=self._hit)
        return found[:]


def _load(literals: Sequence[str], cache: Path | None) -> hyperscan.Database:
    key = hashlib.blake2b(
        "\0".join([str(getattr(hyperscan, "__version__", "")), *literals]).encode(),
        digest_size=16,
    )
    path = cache / f"{key.hexdigest()}.hs" if cache else None
    if path is not None:
        try:
            database = hyperscan.loadb(path.read_bytes(), hyperscan.HS_MODE_BLOCK)
            database.scratch = hyperscan.Scratch(database)
            return database
        except (OSError, hyperscan.HyperscanError):
            pass
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[text.encode() for text in literals],
        ids=list(range(len(literals))),
        elements=len(literals),
        flags=[_FLAGS] * len(literals),
        literal=True,
    )
    database.scratch = hyperscan.Scratch(database)
    if path is not None:
        temporary = path.with_suffix(f".{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(hyperscan.dumpb(database))
            os.replace(temporary, path)
        except OSError:
            pass
    return database
