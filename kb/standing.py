"""Which literals of an entry make a place in the middle of a large log worth a look.

Searching gigabytes gets slower with each literal, and most of an entry's words are printed by an exception, on or below a
line that names itself an error. Every block of a large log is therefore searched for `kb.error_words` (the lines around a
hit are then read with all literals), and beside them only for literals that are printed without such a word. The entry's
own samples tell which these are.
"""

from __future__ import annotations

import re
from itertools import chain

from kb import patterns
from kb.error_words import SHORTEST, error_word, weight
from kb.form_texts import own_wordings
from kb.load import Loaded, conditions

BELOW_HEADER_LINES = 80
"""This many lines below a traceback's header or frame are assumed to belong to it."""

COMMON = (
    '", line ', "in <module>", "loading ", " adapter", "unsloth: ", "from_pretrained(", ".from_pretrained(",
    "in from_pretrained", "pytorch ", "ing checkpoint",
)  # fmt: skip
"""Literals that occurred on 100 or more of the 23,978 lines of all samples (2026-11-23). They prove nothing about a
large log."""

_SAMPLE_CHARACTERS = 256 * 1024
_SPACE = re.compile(r"[ \t]+")
_FRAME = re.compile(r'\s*file "')
_NAME = re.compile(r"[\w./\\-]*", re.ASCII)


def standing_literals(item: Loaded) -> set[str]:
    """The entry's literals that are printed without an error word.

    These are literals that one of its samples shows on a line with no error word on it or above it, and literals of the same
    condition that no sample shows (another wording of that line). An entry without samples is taken to be printed that way.
    """
    asked = []
    for place, condition in conditions(item.entry):
        if place[2] in ("require", "exclude"):
            asked.append(set(chain.from_iterable(map(patterns.literals, own_wordings(condition)))))
    samples = item.samples_of("match")
    alone, beside = set[str](), set[str]()
    for sample in samples:
        _shown(sample.text[:_SAMPLE_CHARACTERS], set().union(*asked), alone, beside)
    return {
        text
        for literals in asked
        if literals & alone or not samples
        for text in (literals & alone) | (literals - beside)
        if weight(text) >= SHORTEST and not _NAME.fullmatch(text) and not error_word(text) and text not in COMMON
    }


def _shown(sample: str, literals: set[str], alone: set[str], beside: set[str]) -> None:
    """Sort the literals that a sample shows into those that stand alone and those beside an error word or in a traceback."""
    below = BELOW_HEADER_LINES
    for line in sample.lower().splitlines():
        below = 0 if "traceback (most recent" in line or _FRAME.match(line) else below + 1
        folded = _SPACE.sub(" ", line)
        into = beside if below < BELOW_HEADER_LINES or error_word(line) else alone
        into.update(text for text in literals if text in folded)
