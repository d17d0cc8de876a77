"""Finds the entries that an unknown message resembles, by the rare words that it shares with their failures.

A word counts the more, the fewer entries have it. Common words alone ("object has no attribute") prove no likeness.
docs/decisions/0019 says why words are compared and not characters.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TypedDict

from kb import lazy
from kb.compiled import Knowledge, translation
from kb.placeholders import general

SHARE, MASS = 0.6, 12.0
"""An entry must have this share of the message's words (by weight), and these must weigh at least ``MASS``: about two
rare words."""
RARE = 5.0
"""The rarest of these words must weigh at least this: about one entry in 150 has such a word. Without it, a message of
common words ("The size of tensor a (3) must match …") resembles dozens of entries and points to none."""
LEAST = 12
"""A message of at least this many characters is compared without its exception's type."""

_WORD = lazy.compile(r"[a-z_][a-z0-9_.]*[a-z0-9_]|[\u4e00-\u9fff]{2}")
_PART = lazy.compile(r"[._]")


class Near(TypedDict):
    """An entry that does not match, but has words like those of a message. ``similarity`` is in percent."""

    id: str
    title: str
    similarity: int


def words(text: str) -> set[str]:
    """The words of a text in lower case; names with dots and underscores whole and in parts."""
    return set().union(*_names(text))


def _names(text: str) -> set[frozenset[str]]:
    """The words of a text in lower case, each with the parts that dots and underscores divide it into."""
    found: set[frozenset[str]] = set()
    for word in _WORD.findall(text.lower()):
        parts = _PART.split(word) if "." in word or "_" in word else ()
        found.add(frozenset([word, *(part for part in parts if len(part) > 2)]))
    return found


def has_rare_word(knowledge: Knowledge, text: str) -> bool:
    """Whether a text has a word that entries print, but few of them."""
    for pack in knowledge.packs:
        most = len(pack.index.ids) / (math.exp(RARE) - 1)
        if any(0 < len(pack.saying(word)) <= most for word in words(text)):
            return True
    return False


def nearest(knowledge: Knowledge, message: str, lang: str = "en", limit: int = 3) -> list[Near]:
    """The entries whose failures print text most like a message that no entry explains."""
    _, colon, said = message.partition(": ")
    asked = _names(said if colon and len(said) >= LEAST else message)
    found: list[tuple[float, str]] = []
    for pack in knowledge.packs:
        count = len(pack.index.ids)
        total = 0.0
        mass: defaultdict[int, float] = defaultdict(float)
        rarest: defaultdict[int, float] = defaultdict(float)
        for name in asked:  # a name and its parts count once
            weights: dict[int, float] = {}
            most = 0.0
            for word in name:
                owners = pack.saying(word)
                weight = math.log(1 + count / max(1, len(owners)))
                most = max(most, weight)
                for entry in owners:
                    weights[entry] = max(weight, weights.get(entry, 0.0))
            total += most
            for entry, weight in weights.items():
                mass[entry] += weight
                rarest[entry] = max(weight, rarest[entry])
        found += [
            (shared / total, pack.index.ids[entry])
            for entry, shared in mass.items()
            if shared >= MASS
            and shared >= SHARE * total
            and rarest[entry] >= RARE
            and knowledge.owner(pack.index.ids[entry]) is pack
        ]
    out: list[Near] = []
    for share, id_ in sorted(found, key=lambda item: (-item[0], item[1]))[:limit]:
        body = knowledge.find(id_)
        assert body is not None
        told = translation(body[0], lang) or body[0]
        out.append({"id": id_, "title": general(told["title"]), "similarity": round(100 * share)})
    return out
