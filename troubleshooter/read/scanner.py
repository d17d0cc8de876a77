"""Scans a line once for all literals: those of the entries, and the keywords by which readers of `observe` are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from troubleshooter.read.database import Database, database, named
from troubleshooter.read.line import Line
from troubleshooter.read.templates import LEARNED_AFTER_LINES, DigitLiterals, LineTemplate, LineTemplates
from troubleshooter.read.text import fold

if TYPE_CHECKING:
    from troubleshooter.read.large.prefilter import Prefilter

Readers = tuple[int, ...]
"""The numbers of the readers that a text calls, each once."""


class Segment:
    """Literals that are compiled into one database: their count, a function that returns them, and their digest. If the
    digest is empty, the database is not cached."""

    __slots__ = ("count", "digest", "texts")

    def __init__(self, count: int, texts: Callable[[], Sequence[str]], digest: str = "") -> None:
        self.count = count
        self.texts = texts
        self.digest = digest


class Scanner:
    """Finds which of the literals a text holds (ASCII case ignored), each once.

    Literals are the knowledge's, numbered through the segments; numbers from ``first_keyword`` on are keywords (a keyword may
    be a literal too).
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        cache: Path | None = None,
        keywords: Mapping[str, Readers] | None = None,
        alone: Callable[[], Sequence[str]] = list,
        digits: Callable[[], Mapping[int, str]] | None = None,
    ) -> None:
        """``segments`` hold the literals; keywords are compiled with the first of them. ``cache``: a folder for compiled
        databases, or None for no cache. ``keywords``: texts and the readers that they call. ``alone``: literals that
        are printed without an error word. ``digits``: the literals with digits, by number.
        """
        keywords = keywords or {}
        segments = segments or [Segment(0, list)]
        count = sum(segment.count for segment in segments)
        self.first_keyword = count
        self.templates: LineTemplates | None = LineTemplates()
        """The templates of lines that differ only in digits; None to scan each line by itself."""
        self._readers: list[Readers] = [()] * count + list(keywords.values())
        self._keywords = list(keywords)
        self._cache = cache if all(segment.digest for segment in segments) else None
        self._key = named("-".join(segment.digest[:16] for segment in segments), keywords)
        self._found: list[int] = []
        self._databases: list[tuple[Database, Callable[..., None]]] = []
        first = 0
        for number, segment in enumerate(segments):
            own = self._keywords if number == 0 else []
            texts = partial(_with_keywords, segment.texts, own)
            made = database(texts, self._cache, named(f"{segment.digest}-lines", own))
            if made is not None:
                self._databases.append((made, self._hit(first, segment.count if own else None)))
            first += segment.count

        def everything() -> list[str]:
            return [*(text for segment in segments for text in segment.texts()), *self._keywords]

        self._everything, self._alone = everything, alone
        self._with_digits = DigitLiterals(
            digits or (lambda: dict(enumerate(everything()[:count]))),
            enumerate(self._keywords, self.first_keyword), self._cache, f"{self._key}-suspects",
        )  # fmt: skip

    def _hit(self, first: int, keywords_from: int | None = None) -> Callable[[int, int, int, int, object], None]:
        """The callback of a database whose literals are numbered from ``first`` on, its keywords from ``keywords_from`` on."""
        append = self._found.append
        if not first and keywords_from in (None, self.first_keyword):

            def note(number: int, start: int, stop: int, flags: int, context: object) -> None:
                append(number)

        else:
            limit = keywords_from if keywords_from is not None else self.first_keyword
            shift = self.first_keyword - limit

            def note(number: int, start: int, stop: int, flags: int, context: object) -> None:
                append(number + first if number < limit else number + shift)

        return note

    def scan(self, text: bytes) -> list[int]:
        """The numbers of the literals and keywords that the text holds."""
        found = self._found
        found.clear()
        if text:
            for made, hit in self._databases:
                made.scan(text, match_event_handler=hit)
        return found[:]

    def literals(self, text: str) -> list[int]:
        """The numbers of the literals that the text holds, without keywords."""
        return [number for number in self.scan(text.encode("utf-8", "replace")) if number < self.first_keyword]

    def find(self, line: Line) -> tuple[Sequence[int], Readers]:
        """The literals that a line holds and the readers that its keywords call; sets ``line.folded`` if it holds some."""
        template, text = line.template, line.text
        if template is not None and template.literals is not None:
            if not template.literals and not template.suspects:
                return (), template.readers
            line.folded = text if template.is_folded else fold(text)
            return (
                self._of_template(template, line.folded) if template.suspects else (template.literals, template.readers)
            )
        is_folded = text.isascii() and "  " not in text and "\t" not in text and text[0] != " "
        line.folded = text if is_folded else fold(text)
        numbers = self.scan(line.folded.encode("utf-8", "replace"))
        if template is not None:
            template.searched_lines += 1
            if template.searched_lines == LEARNED_AFTER_LINES:
                self._learn(template, line, is_folded, numbers)
        return self._apart(numbers)

    def _apart(self, numbers: Sequence[int]) -> tuple[list[int], Readers]:
        """Literals, and the readers that the keywords among the numbers call."""
        first, called = self.first_keyword, set[int]()
        for number in numbers:
            if number >= first:
                called.update(self._readers[number])
        return [number for number in numbers if number < first], tuple(sorted(called))

    def _of_template(self, template: LineTemplate, folded: str) -> tuple[Sequence[int], Readers]:
        """The literals and readers of a line, taken from its template; literals with digits are searched for in the line itself."""
        assert template.literals is not None
        lower = folded.encode("utf-8", "replace").lower()
        suspects = [number for number, word in template.suspects if word in lower]
        if not suspects:
            return template.literals, template.readers
        literals, readers = self._apart(suspects)
        return [*template.literals, *literals], tuple(sorted({*template.readers, *readers}))

    def _learn(self, template: LineTemplate, line: Line, is_folded: bool, numbers: Sequence[int]) -> None:
        """Remember what this line contains for all lines of its template, except literals with digits."""
        template.suspects = self._with_digits.possible_in(line.folded.encode("utf-8", "replace"))
        with_digits = {number for number, _ in template.suspects}
        template.is_folded = is_folded
        template.literals, template.readers = self._apart([n for n in numbers if n not in with_digits])

    @cached_property
    def prefilter(self) -> Prefilter:
        """The words for which large logs are searched."""
        from troubleshooter.read.large.prefilter import Prefilter

        return Prefilter(self._alone(), self._everything, self._cache, self._key)


def _with_keywords(texts: Callable[[], Sequence[str]], keywords: Sequence[str]) -> list[str]:
    return [*texts(), *keywords]
