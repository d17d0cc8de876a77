"""One scan of a line for all literals: those of the entries, and the marks that tell which reader a line is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal

import hyperscan

from troubleshooter.read.database import database, named
from troubleshooter.read.line import Suspect
from troubleshooter.read.shapes import ZEROS, Shapes
from troubleshooter.read.standing import Standing


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
        digits: Callable[[], Mapping[int, str]] | None = None,
    ) -> None:
        """``literals`` gives ``count`` of them, where they are needed, ``digits`` by number those with digits. ``cache``: a
        folder for compiled databases, or None for no cache; ``key`` names the literals there. ``marks``: texts and the readers
        that they call.
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
        self._digits = digits or (lambda: dict(enumerate(literals())))
        self._marks = list(marks)
        self._zeros: hyperscan.Database | Literal[False] | None = False

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals that the text holds."""
        return self._search(self._database, text) if self._database is not None and text else []

    def suspects(self, text: bytes) -> tuple[Suspect, ...]:
        """The literals with digits that the text may hold if its own digits are others."""
        if self._zeros is False:
            self._zeros = database(
                lambda: [zeros for zeros, _ in self._alike], (), self._cache, f"{self._key}-suspects"
            )
        if self._zeros is None or not (found := self._search(self._zeros, text.translate(ZEROS))):
            return ()
        return tuple(suspect for number in found for suspect in self._alike[number][1])

    @cached_property
    def _alike(self) -> list[tuple[str, list[Suspect]]]:
        """The literals with digits, by their text with ``0`` for every digit."""
        out: dict[str, list[Suspect]] = {}
        for number, word in (*self._digits().items(), *enumerate(self._marks, self.first_mark)):
            text = word.lower().encode()
            if (zeros := text.translate(ZEROS)) != text or b"0" in text:
                out.setdefault(zeros.decode(), []).append((number, text))
        return sorted(out.items())

    def _search(self, where: hyperscan.Database, text: bytes) -> list[int]:
        found = self._found
        found.clear()
        where.scan(text, match_event_handler=self._hit)
        return found[:]
