"""One scan of a line for all literals: those of the entries, and the marks that tell which reader a line is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import hyperscan

from kb import lazy
from troubleshooter.read.database import database, named
from troubleshooter.read.shapes import ZEROS, Shapes
from troubleshooter.read.standing import Standing

_DIGIT = lazy.compile("[0-9]")


class Scanner:
    """Finds which of the literals a text holds (ASCII case ignored), each once.

    ``literals`` are the knowledge's, numbered as they come; numbers from ``first_mark`` on are marks (a mark may be a literal
    too). ``routes`` holds, by number, the readers that a text is a mark of (0 for none). ``standing`` is what large logs are
    searched for.
    """

    def __init__(
        self,
        literals: Callable[[], Sequence[str]],
        count: int,
        cache: Path | None = None,
        marks: Mapping[str, int] | None = None,
        key: str = "",
        standing: Standing | None = None,
    ) -> None:
        """``literals`` gives ``count`` of them, where they are needed. ``cache``: a folder for compiled databases, or None
        for no cache; ``key`` names the literals there. ``marks``: texts and the readers that they call.
        """
        marks = marks or {}
        self.first_mark = count
        self.routes = [0] * count + list(marks.values())

        def everything() -> list[str]:
            return [*literals(), *marks]

        self._everything, self._cache, self._key = everything, cache if key else None, named(f"{key}-lines", marks)
        self._database = database(everything, (), self._cache, self._key)
        self._found: list[int] = []
        append = self._found.append

        def hit(number: int, start: int, stop: int, flags: int, context: object) -> None:
            append(number)

        self._hit = hit
        self.standing = standing or Standing()
        self.standing.complete(self._database, everything)
        self.shapes = Shapes()
        self._digits: hyperscan.Database | Literal[False] | None = False
        self._zeros: hyperscan.Database | Literal[False] | None = False

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals that the text holds."""
        return self._search(self._database, text) if self._database is not None and text else []

    def scan_digits(self, text: bytes) -> list[int]:
        """Of the numbers of the literals that the text holds, those of literals with digits."""
        if self._digits is False:
            self._digits = database(self._with_digits, (), self._cache, f"{self._key}-digits")
        return self._search(self._digits, text) if self._digits is not None else []

    def told_by_shape(self, text: bytes) -> bool:
        """Whether the text holds no literal with digits, whatever its own digits are."""
        if self._zeros is False:
            self._zeros = database(self._with_zeros, (), self._cache, f"{self._key}-zeros")
        return self._zeros is None or not self._search(self._zeros, text.translate(ZEROS))

    def _with_digits(self) -> list[str]:
        return [word if _DIGIT.search(word) else "" for word in self._everything()]

    def _with_zeros(self) -> list[str]:
        return sorted({word.encode().translate(ZEROS).decode() for word in self._with_digits()})

    def _search(self, where: hyperscan.Database, text: bytes) -> list[int]:
        found = self._found
        found.clear()
        where.scan(text, match_event_handler=self._hit)
        return found[:]
