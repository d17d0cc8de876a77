"""One scan for all literals: those of the entries, and the marks that tell which reader a line is for.

Hyperscan: linear in the text and nearly independent of the number of literals. The compiled database is kept in the
user's cache by content hash; where that cannot be written it is compiled at each start (12 ms a thousand literals).
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import cast

import hyperscan

from kb.error_words import ERROR_WORDS, SHORTEST
from kb.patterns import weight

_ONCE = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
_EACH = hyperscan.HS_FLAG_CASELESS
DENSE = 64
"""Error words in one block from which on it is searched for every literal instead: only a few kinds of them matter."""


class Scanner:
    """Finds which of the literals a text holds (ASCII case ignored), each once.

    ``literals`` are the knowledge's, numbered as they come; numbers from ``first_mark`` on are marks alone. ``routes``
    holds, by number, the readers that a text is a mark of (0 for none).
    """

    def __init__(
        self,
        literals: Sequence[str],
        cache: Path | None = None,
        marks: Mapping[str, int] | None = None,
        standing: Collection[int] = frozenset(),
        key: str = "",
        standing_marks: Collection[str] = (),
    ) -> None:
        """``cache``: a folder for compiled databases, or None for no cache; ``key`` names the literals there.
        ``marks``: texts and the readers that they call; many are literals too, and are looked for once.
        ``standing``: literals that make a part of a large log worth a look, as the ``standing_marks`` do.
        """
        self.first_mark = len(literals)
        place = dict(zip(literals, range(len(literals)), strict=True))
        self._everything = [*literals, *(text for text in marks or () if text not in place)]
        place.update((text, number) for number, text in enumerate(self._everything[len(literals) :], len(literals)))
        self.routes = [0] * len(self._everything)
        for text, readers in (marks or {}).items():
            self.routes[place[text]] |= readers
        self._standing = sorted({*standing, *(place[text] for text in standing_marks)})
        self._cache = cache if key else None
        self._key = f"{key}-{getattr(hyperscan, '__version__', '')}"
        self._database = self._load("lines", self._everything)
        self._blocks: hyperscan.Database | None = None
        self._long: set[int] = set()
        self._found: list[int] = []
        append = self._found.append

        def hit(number: int, start: int, stop: int, flags: int, context: object) -> None:
            append(number)

        self._hit = hit

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals that the text holds."""
        found = self._found
        found.clear()
        if self._database is not None and text:
            self._database.scan(text, match_event_handler=self._hit)
        return found[:]

    def surveyor(self) -> Surveyor:
        """A searcher of whole blocks, for one thread."""
        if self._blocks is None:
            alone = [self._everything[n] for n in self._standing]
            flags = [_EACH] * len(ERROR_WORDS) + [_ONCE] * len(alone)
            self._blocks = self._load("blocks", (*ERROR_WORDS, *alone), flags)
            self._long = {n for n, text in enumerate(self._everything) if weight(text) >= SHORTEST}.union(
                self._standing
            )
        return Surveyor(self._blocks, self._database, self._long)

    def _load(self, name: str, words: Sequence[str], flags: Sequence[int] = ()) -> hyperscan.Database | None:
        if not words:
            return None
        own = zlib.crc32("\0".join(words).encode())
        path = self._cache / f"{self._key}-{name}-{own:08x}.hs" if self._cache is not None else None
        return _load(words, flags or [_ONCE] * len(words), path)


class Surveyor:
    """Finds the places of a block of a large log that are worth a look. It lets other threads run while it searches."""

    def __init__(
        self, blocks: hyperscan.Database | None, lines: hyperscan.Database | None, long: Collection[int]
    ) -> None:
        self._blocks, self._lines = blocks, lines
        self._scratch = hyperscan.Scratch(blocks)
        self._lines_scratch: hyperscan.Scratch | None = None
        self._ends: list[int] = []
        place, words, left = self._ends.append, len(ERROR_WORDS), [0]
        self._left = left

        def error_or_alone(number: int, start: int, stop: int, flags: int, context: object) -> bool:
            place(stop)
            if number < words:
                left[0] -= 1
                return left[0] < 0
            return False

        def any_literal(number: int, start: int, stop: int, flags: int, context: object) -> None:
            if number in long:
                place(stop)

        self._error_or_alone, self._any_literal = error_or_alone, any_literal

    def ends(self, block: bytes | bytearray) -> list[int]:
        """Offsets after what was found, ascending: every error word and the first of each other literal; of a block
        dense with error words, the first of each literal there is."""
        ends = self._ends
        ends.clear()
        self._left[0] = DENSE
        if self._blocks is None or not block:
            return []
        data = cast("bytes", block)  # any buffer will do
        try:
            self._blocks.scan(data, match_event_handler=self._error_or_alone, scratch=self._scratch)
        except hyperscan.ScanTerminated:
            ends.clear()
            if self._lines is not None:
                self._lines_scratch = self._lines_scratch or hyperscan.Scratch(self._lines)
                self._lines.scan(data, match_event_handler=self._any_literal, scratch=self._lines_scratch)
        return sorted(set(ends))


def _load(words: Sequence[str], flags: Sequence[int], path: Path | None) -> hyperscan.Database:
    if path is not None:
        try:
            database = hyperscan.loadb(path.read_bytes(), hyperscan.HS_MODE_BLOCK)
            database.scratch = hyperscan.Scratch(database)
            return database
        except (OSError, hyperscan.HyperscanError):
            pass
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[text.encode() for text in words],
        ids=list(range(len(words))),
        elements=len(words),
        flags=list(flags),
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
