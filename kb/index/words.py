"""The words that a message is found by: every printed form of a template holds its anchors."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

_WORD = re.compile(r"\w+")
MAX_WORDS = 400
"""Words of a printed message that are looked up."""


def number(words: str) -> int:
    """The number that stands for one or two words."""
    return zlib.crc32(words.encode("utf-8", "replace"))


def asked(message: str) -> list[int]:
    """The numbers of all words and pairs of neighbours in a printed message."""
    words = [match[0].lower() for match in _WORD.finditer(message)][:MAX_WORDS]
    texts = dict.fromkeys([*words, *(f"{a} {b}" for a, b in pairwise(words))])
    return [number(text) for text in texts]


def candidates(literals: Sequence[str | None]) -> list[list[str]]:
    """The words and pairs that stand whole in a template: those of its first line, and those of the rest.

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
            if line == 0 and "\n" in piece[: match.start()] and lines[0]:
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


def anchors(templates: Iterable[Sequence[str | None]]) -> list[list[int]]:
    """For each template the numbers that it is found by: its rarest words in the first line, and in the rest."""
    found = [candidates(literals) for literals in templates]
    frequency = Counter(text for lines in found for line in lines for text in dict.fromkeys(line))
    rarest = [[min(line, key=lambda text: (frequency[text], text)) for line in lines if line] for lines in found]
    return [[number(text) for text in texts] for texts in rarest]
