"""The words by which a message is found. Every printed form of a template contains the template's anchors."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

_WORD = re.compile(r"\w+")
MAX_WORDS = 400
"""At most this many words of a printed message are looked up."""
BEGINNING = 30
"""This many words and pairs are the beginning of a first line. A message that is cut behind them is still found."""
NEAR = 12
"""The second anchor is one of this many words and pairs before and after the first."""


def number(words: str) -> int:
    """The number that stands for one or two words."""
    return zlib.crc32(words.encode("utf-8", "replace"))


def asked(message: str) -> list[int]:
    """The numbers of all words and pairs of neighbours in a printed message."""
    words = [match[0].lower() for match in _WORD.finditer(message)][:MAX_WORDS]
    texts = dict.fromkeys([*words, *(f"{a} {b}" for a, b in pairwise(words))])
    return [number(text) for text in texts]


def candidates(literals: Sequence[str | None]) -> list[list[str]]:
    """The words and pairs that are whole in a template: those at the beginning of its first line, and the rest.

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
            # Two words are neighbours if no other word can be printed between them.
            if before is not None and before[0] == line:
                lines[line].append(f"{before[1]} {word}")
            before = (line, word)
        if "\n" in piece and lines[0]:
            line = 1
    return lines


class TemplateKey(NamedTuple):
    """A word or pair by which a template is found, and a second one near it."""

    word: int
    """The number of its rarest word or pair."""
    second: int
    """The `check` of another word or pair close to it, so that a cut message has both or none; 0 if there is no other."""


def check(number: int) -> int:
    """The short form of a number; never 0."""
    return number % 65_535 + 1


def anchors(templates: Iterable[Sequence[str | None]]) -> list[list[TemplateKey]]:
    """The anchors of each template: one at the beginning of the first line, and one in the rest."""
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
