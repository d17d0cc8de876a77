"""One scan of a line for all literals: those of the entries, and the marks that tell which reader a line is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import hyperscan

from troubleshooter.lean import dataclass
from troubleshooter.read.database import database, named
from troubleshooter.read.line import Suspect
from troubleshooter.read.shapes import ZEROS, Shapes

if TYPE_CHECKING:
    from troubleshooter.read.large.prefilter import Prefilter


@dataclass(slots=True)
class Segment:
    """Literals that are compiled into one database: how many, where to get them, and a digest that tells them from others
    (empty: the database is not cached)."""

    count: int
    texts: Callable[[], Sequence[str]]
    digest: str = ""


class Scanner:
    """Finds which of the literals a text holds (ASCII case ignored), each once.

    Literals are the knowledge's, numbered through the segments; numbers from ``first_mark`` on are marks (a mark may be a
    literal too). ``routes`` holds, by number, the readers that a text is a mark of (0 for none).
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        cache: Path | None = None,
        marks: Mapping[str, int] | None = None,
        alone: Callable[[], Sequence[str]] = list,
        digits: Callable[[], Mapping[int, str]] | None = None,
    ) -> None:
        """``segments`` hold the literals; marks are compiled with the first of them. ``cache``: a folder for compiled
        databases, or None for no cache. ``marks``: texts and the readers that they call. ``alone``: literals that
        are printed without an error word. ``digits``: the literals with digits, by number.
        """
        marks = marks or {}
        segments = segments or [Segment(0, list)]
        count = sum(segment.count for segment in segments)
        self.first_mark = count
        self.routes = [0] * count + list(marks.values())
        self._marks = list(marks)
        self._cache = cache if all(segment.digest for segment in segments) else None
        self._key = named("-".join(segment.digest[:16] for segment in segments), marks)
        self._found: list[int] = []
        self._databases: list[tuple[hyperscan.Database, Callable[..., None]]] = []
        first = 0
        for number, segment in enumerate(segments):
            own = self._marks if number == 0 else []
            texts = partial(_with_marks, segment.texts, own)
            made = database(texts, (), self._cache, named(f"{segment.digest}-lines", own))
            if made is not None:
                self._databases.append((made, self._hit(first, segment.count if own else None)))
            first += segment.count

        def everything() -> list[str]:
            return [*(text for segment in segments for text in segment.texts()), *self._marks]

        self._everything, self._alone = everything, alone
        self.shapes = Shapes()
        self._digits = digits or (lambda: dict(enumerate(everything()[:count])))
        self._zeros: hyperscan.Database | Literal[False] | None = False

    def _hit(self, first: int, marks_from: int | None = None) -> Callable[[int, int, int, int, object], None]:
        """What notes a hit in a database whose literals are numbered from ``first`` on, its marks from ``marks_from`` on."""
        append = self._found.append
        if not first and marks_from in (None, self.first_mark):

            def note(number: int, start: int, stop: int, flags: int, context: object) -> None:
                append(number)

        else:
            limit = marks_from if marks_from is not None else self.first_mark
            shift = self.first_mark - limit

            def note(number: int, start: int, stop: int, flags: int, context: object) -> None:
                append(number + first if number < limit else number + shift)

        return note

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals that the text holds."""
        found = self._found
        found.clear()
        if text:
            for made, hit in self._databases:
                made.scan(text, match_event_handler=hit)
        return found[:]

    @cached_property
    def prefilter(self) -> Prefilter:
        """What large logs are searched for."""
        from troubleshooter.read.large.prefilter import Prefilter

        return Prefilter(self._alone(), self._everything, self._cache, self._key)

    def suspects(self, text: bytes) -> tuple[Suspect, ...]:
        """The literals with digits that the text may hold if its own digits are others."""
        if self._zeros is False:
            self._zeros = database(
                lambda: [zeros for zeros, _ in self._alike], (), self._cache, f"{self._key}-suspects"
            )
        if self._zeros is None:
            return ()
        found: list[int] = []
        self._zeros.scan(
            text.translate(ZEROS), match_event_handler=lambda number, start, stop, flags, context: found.append(number)
        )
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


def _with_marks(texts: Callable[[], Sequence[str]], marks: Sequence[str]) -> list[str]:
    return [*texts(), *marks]
