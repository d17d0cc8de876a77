"""One scan for all literals: those of the entries, and the marks that tell which reader a line is for.

Hyperscan: linear in the text and nearly independent of the number of literals. The compiled database is kept in the
user's cache by content hash; where that cannot be written it is compiled at each start (12 ms a thousand literals).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Sequence
from pathlib import Path

import hyperscan

_FLAGS = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH


class Scanner:
    """Finds which of the literals a text holds (ASCII case ignored), each once.

    ``literals`` are the knowledge's; ``marks`` come after them, so mark ``i`` has the number ``first_mark + i``.
    ``names``: literals that are only names (of packages, of options).
    """

    def __init__(
        self,
        literals: Sequence[str],
        cache: Path | None = None,
        marks: Sequence[str] = (),
        names: frozenset[int] | set[int] = frozenset(),
        key: str = "",
    ) -> None:
        """``cache``: a folder for compiled databases, or None for no cache; ``key`` names the literals there."""
        self.first_mark = len(literals)
        self.names = names
        everything = [*literals, *marks]
        self._database = _load(everything, cache / _name(key, marks) if cache and key else None) if everything else None
        self._found: list[int] = []
        self._placed: list[tuple[int, int]] = []
        append, place = self._found.append, self._placed.append

        def hit(number: int, start: int, stop: int, flags: int, context: object) -> None:
            append(number)

        def hit_at(number: int, start: int, stop: int, flags: int, context: object) -> None:
            place((number, stop))

        self._hit, self._hit_at = hit, hit_at

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals that the text holds."""
        found = self._found
        found.clear()
        if self._database is not None and text:
            self._database.scan(text, match_event_handler=self._hit)
        return found[:]

    def places(self, block: bytes) -> list[tuple[int, int]]:
        """``(number, end)`` of the first occurrence of each literal that a block of a log holds, in their order."""
        placed = self._placed
        placed.clear()
        if self._database is not None and block:
            self._database.scan(block, match_event_handler=self._hit_at)
        return placed[:]


def _name(key: str, marks: Sequence[str]) -> str:
    return f"{key}-{zlib.crc32(chr(0).join(marks).encode()):08x}-{getattr(hyperscan, '__version__', '')}.hs"


def _load(literals: Sequence[str], path: Path | None) -> hyperscan.Database:
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
