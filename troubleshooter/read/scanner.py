"""One scan of a line for all literals: those of the entries, and the marks that tell which reader a line is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from troubleshooter.read.database import database, named
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
    ) -> None:
        """``literals`` gives ``count`` of them, where they are needed. ``cache``: a folder for compiled databases, or None
        for no cache; ``key`` names the literals there. ``marks``: texts and the readers that they call.
        """
        marks = marks or {}
        self.first_mark = count
        self.routes = [0] * count + list(marks.values())

        def everything() -> list[str]:
            return [*literals(), *marks]

        self._database = database(everything, (), cache if key else None, named(f"{key}-lines", marks))
        self._found: list[int] = []
        append = self._found.append

        def hit(number: int, start: int, stop: int, flags: int, context: object) -> None:
            append(number)

        self._hit = hit
        self.standing = standing or Standing()
        self.standing.complete(self._database, everything)

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals that the text holds."""
        found = self._found
        found.clear()
        if self._database is not None and text:
            self._database.scan(text, match_event_handler=self._hit)
        return found[:]
