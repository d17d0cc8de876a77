"""Lines that differ only in their digits, as most lines of a log do. What was found on one of them is reused for all.

The *template* of a raw line is the line with ``0`` for every digit. A template stores where the text begins after the
prefix, which literals the line contains and where its numbers are. Only literals that contain digits themselves must be
searched for in each line. So the second step of a training loop is not searched for words that the first one did not
contain. A `Scanner` keeps templates for as many logs as it reads.

Measurement: docs/decisions/0004-lines-of-one-template-are-read-once.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from kb import lazy
from troubleshooter.masking import zero_digits
from troubleshooter.read.database import database

if TYPE_CHECKING:
    from troubleshooter.read.database import Database

MAX_LINE_BYTES = 400
"""A longer line has no template."""
MAX_TEMPLATES = 4096
"""At most this many templates are kept; one more, and all are forgotten."""
LEARNED_AFTER_LINES = 8
"""This many lines of a template are searched for literals. The result of the last one is used for all that follow."""

_LOST_COLOUR = lazy.compile(rb"\[[0;]*0m")

Suspect = tuple[int, bytes]
"""A literal with digits: its number, and its text in lower case."""


class MetricPositions(NamedTuple):
    """The metrics of a line: name, start and end of each value in the text. ``step``: the index of the training step
    among them."""

    values: list[tuple[str, int, int]]
    step: int | None


class LineTemplate:
    """What is known about the lines of one template. ``literals`` is None until it was learned; the fields below it are
    valid from then on."""

    __slots__ = (
        "is_folded", "kind", "literals", "metrics", "names_stream", "prefix_characters", "readers", "searched_lines", "seen", "stamped",
        "suspects",
    )  # fmt: skip

    def __init__(self) -> None:
        self.seen = False
        """Whether a line of it was read before."""
        self.prefix_characters = -1
        """Length of the prefix; -1: such a line is taken apart each time."""
        self.names_stream = False
        """Whether the prefix names a stream or rank, which it may do with digits."""
        self.stamped = False
        """Whether a time stands in the prefix."""
        self.kind = ""
        """The start of the text without its digits, once it was asked for."""
        self.searched_lines = 0
        """Lines that were searched for literals."""
        self.metrics: MetricPositions | None = None
        """The positions of the metrics; without values if digits in a name could change them."""
        self.literals: Sequence[int] | None = None
        """The literals without digits that such a line holds."""
        self.readers: tuple[int, ...] = ()
        """The readers that keywords without digits call."""
        self.suspects: tuple[Suspect, ...] = ()
        """The literals and keywords with digits that such a line may hold."""
        self.is_folded = False
        """Whether the text is already as patterns see it (`read.text.fold`)."""


class LineTemplates:
    """The templates of the lines that were read, at most `MAX_TEMPLATES`."""

    def __init__(self) -> None:
        self._by_key: dict[bytes, LineTemplate] = {}

    def __len__(self) -> int:
        return len(self._by_key)

    def of(self, raw: bytes) -> LineTemplate:
        """The template of a raw line; a new one if this is its first line."""
        key = zero_digits(raw)
        template = self._by_key.get(key)
        if template is None:
            if len(self._by_key) >= MAX_TEMPLATES:
                self._by_key.clear()
            template = self._by_key[key] = LineTemplate()
        return template


def digits_matter(raw: bytes) -> bool:
    """True if the digits of a line may decide how it is split: colours that lost their escape byte, entities of
    HTML, lines of two ranks that were written at once, records of JSON (which has no 01)."""
    return (
        b"&#" in raw
        or raw.count(b"[rank") > 1
        or (b"0m" in (key := zero_digits(raw)) and _LOST_COLOUR.search(key) is not None)
        or (raw.startswith(b'{"') and b'"loss"' not in raw)
    )


class DigitLiterals:
    """Finds the literals with digits that lines of one template may hold, whatever their digits are."""

    def __init__(
        self,
        literals: Callable[[], Mapping[int, str]],
        keywords: Iterable[tuple[int, str]],
        cache: Path | None,
        name: str,
    ) -> None:
        """The literals by number; ``cache`` and ``name`` are those of `read.database.database`."""
        self._literals, self._keywords = literals, list(keywords)
        self._cache, self._name = cache, name
        self._database: Database | Literal[False] | None = False  # False: not made yet

    def possible_in(self, text: bytes) -> tuple[Suspect, ...]:
        """The literals that the text holds if its digits are others."""
        if self._database is False:
            self._database = database(lambda: [zeros for zeros, _ in self._alike], self._cache, self._name)
        if self._database is None:
            return ()
        found: list[int] = []
        self._database.scan(
            zero_digits(text), match_event_handler=lambda number, start, stop, flags, context: found.append(number)
        )
        return tuple(suspect for number in found for suspect in self._alike[number][1])

    @cached_property
    def _alike(self) -> list[tuple[str, list[Suspect]]]:
        """The literals with digits, by their text with ``0`` for every digit."""
        out: dict[str, list[Suspect]] = {}
        for number, literal in (*self._literals().items(), *self._keywords):
            text = literal.lower().encode()
            if (zeros := zero_digits(text)) != text or b"0" in text:
                out.setdefault(zeros.decode(), []).append((number, text))
        return sorted(out.items())
