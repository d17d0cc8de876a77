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
        standing_out: int = 0,
    ) -> None:
        """``cache``: a folder for compiled databases, or None for no cache; ``key`` names the literals there.
        ``standing_out``: how many marks, from the first, make a part of a large log worth a look."""
        self.first_mark = len(literals)
        self._everything = [*literals, *marks]
        self._cache = cache if key else None
        self._key = f"{key}-{zlib.crc32(chr(0).join(marks).encode()):08x}-{getattr(hyperscan, '__version__', '')}"
        self._database = self._load("lines", self._everything)
        # Names of packages and the readers' marks stand in nearly every block of a log: whole blocks are scanned without.
        self._wanted = [n for n in range(self.first_mark + standing_out) if n not in names]
        self._blocks: hyperscan.Database | None = None
        self._found: list[int] = []
        self._placed: list[tuple[int, int]] = []
        append, place, wanted = self._found.append, self._placed.append, self._wanted

        def hit(number: int, start: int, stop: int, flags: int, context: object) -> None:
            append(number)

        def hit_at(number: int, start: int, stop: int, flags: int, context: object) -> None:
            place((wanted[number], stop))

        self._hit, self._hit_at = hit, hit_at

    def _load(self, name: str, literals: Sequence[str]) -> hyperscan.Database | None:
        path = self._cache / f"{self._key}-{name}.hs" if self._cache is not None else None
        return _load(literals, path) if literals else None

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals that the text holds."""
        found = self._found
        found.clear()
        if self._database is not None and text:
            self._database.scan(text, match_event_handler=self._hit)
        return found[:]

    def places(self, block: bytes) -> list[tuple[int, int]]:
        """``(number, end)`` of the first occurrence of each literal in a block of a log that makes it worth a look."""
        placed = self._placed
        placed.clear()
        if self._blocks is None and self._wanted:
            self._blocks = self._load("blocks", [self._everything[n] for n in self._wanted])
        if self._blocks is not None and block:
            self._blocks.scan(block, match_event_handler=self._hit_at)
        return placed[:]


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
