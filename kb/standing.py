"""Which literals make a place in the middle of a large log worth a look.

A scan of gigabytes gets slower with each literal that it looks for, and most of an entry's words never stand alone: they
are said by an exception, whose line names itself an error. So all blocks of a large log are searched for `kb.error_words`
(then the lines around are read with all literals), and beside them only for what is printed without such a word. The
entry's own ``match/`` logs tell which that is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain

from kb import patterns
from kb.error_words import SHORTEST, error_word, weight
from kb.form import Line, Message
from kb.load import Loaded, conditions

BELOW_HEADER = 80
"""Lines below a traceback's header or frame that are taken to be its own."""

SUFFIX = 8
"""Bytes at a literal's end that Hyperscan compares before it looks at the rest."""

COMMON = 100
"""Lines of all entries' logs from which on what they hold tells nothing by itself: `'loss': `, `loading `, `, line `. A
word on each line of metrics made each process that searched compile what leaves it out (20 ms)."""

RARE = 20
"""Lines up to which one end of a literal is as good as another."""

TAIL = 3
"""Characters at the end of what is searched for, of which few different ones are wanted."""

SHARED = 3.0
"""What one more tail costs beside its places in 10,000 characters of text (1 to 8 were alike)."""

_SAMPLE = 256 * 1024
_SPACE = re.compile(r"[ \t]+")
_FRAME = re.compile(r'\s*file "')
_NAME = re.compile(r"[\w./\\-]*", re.ASCII)


class StandingWords:
    """Collects, entry by entry, the literals that every block of a large log must be searched for."""

    def __init__(self) -> None:
        self.literals: set[str] = set()
        """What was found; `texts` is what to search for in their place."""
        self._lines: set[str] = set()

    def add(self, item: Loaded) -> None:
        """Those that one of the entry's own logs shows on a line that no error word stands on or above, and what none of its
        logs shows but is asked for in the same condition (another wording of that line). An entry without logs is taken to
        be printed that way.
        """
        asked = []
        for place, condition in conditions(item.entry):
            if isinstance(condition, (Message, Line)) and place[2] in ("require", "exclude"):
                given = condition.message if isinstance(condition, Message) else condition.line
                asked.append(
                    set(chain.from_iterable(map(patterns.literals, [given] if isinstance(given, str) else given or [])))
                )
        alone, beside = self._shown(item, set().union(*asked))
        for literals in asked:
            if literals & alone or not item.samples("match"):
                self.literals |= {
                    text
                    for text in (literals & alone) | (literals - beside)
                    if weight(text) >= SHORTEST and not _NAME.fullmatch(text) and not error_word(text)
                }

    def _shown(self, item: Loaded, literals: set[str]) -> tuple[set[str], set[str]]:
        """Which literals the entry's own logs show alone, and which beside an error word or in a traceback."""
        alone: set[str] = set()
        beside: set[str] = set()
        for path in item.samples("match"):
            below = BELOW_HEADER
            for line in path.read_bytes()[:_SAMPLE].decode("utf-8", "replace").lower().splitlines():
                below = 0 if "traceback (most recent" in line or _FRAME.match(line) else below + 1
                folded = _SPACE.sub(" ", line)
                self._lines.add(folded)
                into = beside if below < BELOW_HEADER or error_word(line) else alone
                into.update(text for text in literals if text in folded)
        return alone, beside

    def texts(self) -> list[str]:
        """What to search for, sorted: of each literal its start up to an end that is `_rare` (a line that holds the literal
        holds its start). What is `COMMON` wherever it is cut is left out.

        The search compares the ends of literals first, those that end alike together: so the ends share as few `TAIL`s as
        can be, and these are rare themselves. On logs of metrics it took 766 µs a MiB with each literal cut at its own
        rarest end, 590 with these (1,000 literals, a Xeon with 32 KiB of first-level cache); a literal that ends in
        "checkpoint" costs time on each line with that word.
        """
        wanted = {text[end - SUFFIX : end] for text in self.literals for end in _ends(text)}
        lines = Counter(
            chain.from_iterable(
                {line[i : i + SUFFIX] for i in range(len(line) - SUFFIX + 1)} & wanted for line in self._lines
            )
        )
        ends = {text: _rare(text, lines) for text in self.literals}
        holders: dict[str, set[str]] = {}
        for text, allowed in ends.items():
            for end in allowed:
                holders.setdefault(text[end - TAIL : end], set()).add(text)
        usual = Counter(line[i : i + TAIL] for line in self._lines for i in range(len(line) - TAIL + 1))
        each = 10_000 / max(usual.total(), 1)
        out = {text for text in self.literals if not _ends(text)}
        while holders:
            tail = max(holders, key=lambda tail: (len(holders[tail]) / (usual[tail] * each + SHARED), tail))
            for text in holders.pop(tail):
                out.add(text[: next(end for end in ends[text] if text[end - TAIL : end] == tail)])
                for other in {text[end - TAIL : end] for end in ends[text]} - {tail}:
                    holders[other].discard(text)
                    if not holders[other]:
                        del holders[other]
        return sorted(out)


def _rare(text: str, lines: Mapping[str, int]) -> list[int]:
    """Where a literal may end that is searched for in its place: where its last `SUFFIX` characters are on few lines."""
    found = {end: lines[text[end - SUFFIX : end]] for end in _ends(text)}
    least = min(found.values(), default=0)
    return [end for end, count in found.items() if count <= max(least, RARE)] if least < COMMON else []


def _ends(text: str) -> range:
    """Where a literal could end that is searched for in its place."""
    return range(SUFFIX, len(text) + 1) if text.isascii() else range(0)
