"""Which literals make a place in the middle of a large log worth a look.

A scan of gigabytes gets slower with each literal that it looks for, and most of an entry's words never stand alone: they
are said by an exception, whose line names itself an error. So all blocks of a large log are searched for `kb.error_words`
(then the lines around are read with all literals), and beside them only for what is printed without such a word. The
entry's own ``match/`` logs tell which that is.
"""

from __future__ import annotations

import re
from itertools import chain

from kb import patterns
from kb.error_words import SHORTEST, error_word, weight
from kb.form import Line, Message
from kb.load import Loaded, conditions

BELOW_HEADER = 80
"""Lines below a traceback's header or frame that are taken to be its own."""

_SAMPLE = 256 * 1024
_SPACE = re.compile(r"[ \t]+")
_FRAME = re.compile(r'\s*file "')
_NAME = re.compile(r"[\w./\\-]*", re.ASCII)


def standing(item: Loaded) -> set[str]:
    """The literals of an entry that every block of a large log must be searched for.

    Those that one of its own logs shows on a line that no error word stands on or above. Those that none of its logs shows
    (other wordings) too, if they are of a ``line`` condition or if another of its words is printed that way. An entry
    without logs is taken to be printed that way.
    """
    said: set[str] = set()
    on_lines: set[str] = set()
    for place, condition in conditions(item.entry):
        if not isinstance(condition, (Message, Line)) or place[2] not in ("require", "exclude"):
            continue
        given = condition.message if isinstance(condition, Message) else condition.line
        found = set(chain.from_iterable(map(patterns.literals, [given] if isinstance(given, str) else given or [])))
        said |= found
        if isinstance(condition, Line):
            on_lines |= found
    alone, beside = _shown(item, said)
    others = (said if alone or not item.samples("match") else on_lines) - beside
    return {
        text
        for text in alone | others
        if weight(text) >= SHORTEST and not _NAME.fullmatch(text) and not error_word(text)
    }


def _shown(item: Loaded, literals: set[str]) -> tuple[set[str], set[str]]:
    """Which literals the entry's own logs show alone, and which beside an error word or in a traceback."""
    alone: set[str] = set()
    beside: set[str] = set()
    for path in item.samples("match"):
        below = BELOW_HEADER
        for line in path.read_bytes()[:_SAMPLE].decode("utf-8", "replace").lower().splitlines():
            below = 0 if "traceback (most recent" in line or _FRAME.match(line) else below + 1
            folded = _SPACE.sub(" ", line)
            into = beside if below < BELOW_HEADER or error_word(line) else alone
            into.update(text for text in literals if text in folded)
    return alone, beside
