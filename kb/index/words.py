"""The words that a message is found by: every printed form of a template holds its anchors."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

_WORD = re.compile(r"\w+")
MAX_WORDS = 400
"""Words of a printed message that are looked up."""
BEGINNING = 30
"""Words and pairs of a first line that count as its beginning, so that a message that is cut later is found."""
NEAR = 12
"""Words and pairs before and after an anchor among which the second one is chosen."""


def number(words: str) -> int:
    """The number that stands for one or two words."""
    return zlib.crc32(words.encode("utf-8", "replace"))


def asked(message: str) -> list[int]:
    """The numbers of all words and pairs of neighbours in a printed message."""
    words = [match[0].lower() for match in _WORD.finditer(message)][:MAX_WORDS]
    texts = dict.fromkeys([*words, *(f"{a} {b}" for a, b in pairwise(words))])
    return [number(text) for text in texts]


def candidates(literals: Sequence[str | None]) -> list[list[str]]:
    """The words and pairs that stand whole in a template: those of the beginning of its first line, and the rest.

    A word beside a hole may be a part of a longer word when it is printed, so it does not count.
    """
    lines: list[list[str]] = [[], []]
    line = 0
    for place, piece in enumerate(literals):
        if piece is None:
            continue
        before: tuple[int, str] | None = None
        for match in _WORD.finditer(piece):
            cut = (match.start() == 0 and place > 0) or (match.end() == len(piece) and place < len(literals) - 1)
            if line == 0 and lines[0] and (len(lines[0]) >= BEGINNING or "\n" in piece[: match.start()]):
                line = 1
            if cut:
                before = None
                continue
            word = match[0].lower()
            lines[line].append(word)
            # Two words are neighbours in print where no other word can come between them.
            if before is not None and before[0] == line:
                lines[line].append(f"{before[1]} {word}")
            before = (line, word)
        if "\n" in piece and lines[0]:
            line = 1
    return lines


class TemplateKey(NamedTuple):
    """What a template is found by."""

    word: int
    """The number of its rarest word or pair."""
    second: int
    """`check` of another one that stands close to it, so that a cut message holds both or none; 0 where there is none."""


def check(number: int) -> int:
    """The short form of a number; never 0."""
    return number % 65_535 + 1


def anchors(templates: Iterable[Sequence[str | None]]) -> list[list[TemplateKey]]:
    """For each template the anchors that it is found by: one in the beginning of the first line, and one in the rest."""
    found = [candidates(literals) for literals in templates]
    frequency = Counter(text for lines in found for line in lines for text in dict.fromkeys(line))
    return [[_anchor(line, frequency) for line in lines if line] for lines in found]


def _anchor(line: list[str], frequency: Counter[str]) -> TemplateKey:
    place = min(range(len(line)), key=lambda place: (frequency[line[place]], line[place]))
    rarest = line[place]
    parts = (rarest, *rarest.split())
    near = [text for text in line[max(0, place - NEAR) : place + NEAR + 1] if text not in parts]
    second = min(near, key=lambda text: (frequency[text], text), default=None)
    return TemplateKey(number(rarest), check(number(second)) if second else 0)
