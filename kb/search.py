"""Search over entries: by words and by how common a failure is. Typing errors are forgiven, in every language.

`encode` makes the index once, when entries are compiled. Two programs read it: `search` here, and ``search.js`` on the pages,
which follows this module step by step (``tests/kb/test_search.py`` compares their answers).

The score of an entry is the share of the asked words that it holds. A word counts by its rarity and by its place in the
entry (title, printed message, cause). The share is then raised by the entry's commonness.
"""

from __future__ import annotations

import itertools
import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from kb import likeness
from kb.compiled import Body, Knowledge, Pack
from kb.placeholders import general

PLACES = (1.0, 0.8, 0.5)
"""The weight of a word in the title, summary or id; in the text that the failure prints; and in the cause."""
FORM, TYPO = 0.7, 0.7
"""The weight of another form of a word (merge, merging), and of a word with nearly the same spelling."""
STEM = 4
"""Two forms of a word share at least this many characters."""
SPELLINGS = 12
"""A misspelled word may stand for at most this many words."""
LEAST = 0.35
"""A find contains at least this share of the asked words, by weight."""
TITLE, NAME = 0.05, 0.2
"""Added to the share for a title that contains only the asked words, and for an id that consists of them in their
order."""
COMMON, COMMONEST = 0.5, 64
"""The commonest failures are raised by ``COMMON``; a failure counts as one of them from the commonness ``COMMONEST``
on."""
HARMLESS = 0.85
"""Factor for harmless entries: they come first only if the words belong to them."""

_PAIRED = re.compile(r"[\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]+")
"""Japanese, Chinese and Korean: words without blanks, or with endings that are written on to them."""
_NUMBER = re.compile(r"(?<![\w.])([0-9]+(?:\.[0-9]+)?)(?![\w%]|\.\w)")
_SMALL = frozenset(
    ("an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "in", "into", "is", "it", "its", "not", "of", "on", "or",
     "so", "than", "that", "the", "this", "to", "was", "with")
)  # fmt: skip
_PLAIN = re.compile(r"[a-z0-9]+")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class SearchFact(NamedTuple):
    """The facts about an entry that the score needs besides its words."""

    commonness: int
    title_words: int
    harmless: bool


def search(knowledge: Knowledge, asked: str, limit: int = 10) -> list[tuple[float, Body]]:
    """The entries that fit the words best. The number is the share of the words that an entry holds, from 0 to 100; the
    order also follows commonness."""
    index = SearchIndex.of(knowledge)
    out = []
    for share, number in index.find(asked)[:limit]:
        found = knowledge.find(index.ids[number])
        assert found is not None
        out.append((100 * share, found[0]))
    return out


def words(text: str) -> set[str]:
    """The words of a text: those of `likeness.words`, numbers, and pairs of characters of scripts in which blanks
    do not part the words (`_PAIRED`)."""
    found = {word for word in likeness.words(text) if word.isascii()}
    found.update(number.removesuffix(".0") for number in _NUMBER.findall(text))
    found.update(run[i : i + 2] for run in _PAIRED.findall(text) for i in range(max(len(run) - 1, 1)))
    return found - _SMALL


def pairs(text: str) -> list[str]:
    """Neighbours among the plain words of a text, joined as an id has them: ``pad token`` gives ``pad-token``."""
    plain = [word for word in text.lower().split() if _PLAIN.fullmatch(word)]
    return [f"{a}-{b}" for a, b in itertools.pairwise(plain)]


class Terms(NamedTuple):
    """What the index takes from one entry alone. Every field is JSON; words are joined by blanks."""

    titles: str
    printed: str
    causes: str
    """Words that only the cause has; ``printed`` has those that the titles lack."""
    title_words: int
    harmless: bool
    threads: int
    """Public threads among its sources."""
    fallback_for: Sequence[str]
    variant_of: str | None


NOTHING = Terms("", "", "", 0, False, 0, (), None)
"""The terms of an entry that no search finds."""


def terms(body: Body) -> Terms:
    """The terms of an entry; ``lookalikes`` are not needed yet."""
    told = [body, *body.get("translations", {}).values()]
    if body.get("replaced_by"):
        return NOTHING
    name = " ".join([body["id"], *body.get("aliases", ())]).replace("-", " ")
    titles = words("\n".join(general(f"{text['title']}\n{text.get('summary', '')}") for text in told))
    named = titles | words(name) | set(pairs(name))
    printed = words("\n".join([*_readable(body), *body.get("printed", ())])) - named
    causes = words("\n".join(text["cause"] for text in told)) - named - printed
    sources = [*body["sources"], *(symptom["source"] for symptom in body["symptoms"])]
    return Terms(
        titles=" ".join(sorted(named)),
        printed=" ".join(sorted(printed)),
        causes=" ".join(sorted(causes)),
        title_words=len(titles),
        harmless=body["kind"] == "harmless",
        threads=len({source["url"] for source in sources if source.get("url")}),
        fallback_for=body.get("fallback_for") or [],
        variant_of=body.get("variant_of"),
    )


def _readable(body: Body) -> Iterator[str]:
    """The patterns of an entry's messages, as far as they are words."""
    for symptom in body["symptoms"]:
        for condition in symptom["require"]:
            for pattern in condition.get("patterns", ()):
                yield pattern["re"].replace("\\", " ")


def commonness(entries: Mapping[str, Terms], related: Mapping[str, Any]) -> dict[str, int]:
    """How common each failure is, as far as the entries show it: the number of other entries that refer to it plus the
    number of public threads among its sources. ``related``: the ``lookalikes`` by id; entries without any
    may be missing.

    A failure that is met often has its special cases described in entries of their own, and these name the general one
    (``fallback_for``, lookalikes, overlaps, ``variant_of``). Counts of reports would be better. The recorded reports cannot
    give them: they were chosen one for each cause.
    """
    others: defaultdict[str, set[str]] = defaultdict(set)
    for id_, entry in entries.items():
        others[id_].update(entry.fallback_for)
        if (lookalikes := related.get(id_)) is not None:
            others[id_].update(lookalikes["overlaps"], (other["entry"] for other in lookalikes["confused"]))
        if entry.variant_of:
            others[entry.variant_of].add(id_)
    return {id_: entry.threads + len(others[id_] - {id_}) for id_, entry in entries.items()}


def encode(entries: Mapping[str, Terms], related: Mapping[str, Any]) -> dict[str, Any]:
    """The index of some entries, as JSON data. Entries are named by their place in ``entries``.

    ``words`` are sorted. ``holders`` has a string for each: three lists of entries, for `PLACES`, separated by ``|``; in a
    list each number is the distance to the one before, in base 36. ``facts`` has the values of `SearchFact` for each entry.
    """
    common = commonness(entries, related)
    holders: defaultdict[str, list[list[int]]] = defaultdict(lambda: [[], [], []])
    for number, entry in enumerate(entries.values()):
        for place, text in enumerate((entry.titles, entry.printed, entry.causes)):
            for word in text.split():
                holders[word][place].append(number)
    known = sorted(holders)
    facts = [[common[id_], entry.title_words, int(entry.harmless)] for id_, entry in entries.items()]
    return {"words": known, "holders": [_packed(holders[word]) for word in known], "facts": facts}


class SearchIndex:
    """What `encode` made, of one or several packs: entries have their place in ``ids``."""

    def __init__(self, parts: Sequence[tuple[dict[str, Any], Sequence[int | None]]], ids: Sequence[str]) -> None:
        """``parts``: the data of each pack, with the place in ``ids`` of each of its entries (None where a later pack
        has an entry of the same id)."""
        self.ids = ids
        self._parts = parts
        self.facts = [SearchFact(0, 0, False)] * len(ids)
        for data, places in parts:
            for place, (common, title, harmless) in zip(places, data["facts"], strict=True):
                if place is not None:
                    self.facts[place] = SearchFact(common, title, bool(harmless))

    @classmethod
    def of(cls, knowledge: Knowledge) -> SearchIndex:
        """The index of compiled entries."""
        ids = knowledge.ids()
        place = {id_: number for number, id_ in enumerate(ids)}
        parts = []
        for pack in knowledge.packs:
            owned = [place[id_] if knowledge.owner(id_) is pack else None for id_ in pack.index.ids]
            parts.append((_data(pack), owned))
        return cls(parts, ids)

    @classmethod
    def over(cls, bodies: Sequence[Body]) -> SearchIndex:
        """The index of entries that are given whole."""
        entries = {str(body["id"]): terms(body) for body in bodies}
        related = {str(body["id"]): body["lookalikes"] for body in bodies}
        return cls([(encode(entries, related), range(len(entries)))], list(entries))

    @cached_property
    def words(self) -> list[str]:
        """All words, sorted."""
        if len(self._parts) == 1:
            found: list[str] = self._parts[0][0]["words"]
            return found
        return sorted({word for data, _ in self._parts for word in data["words"]})

    @cached_property
    def _numbers(self) -> list[dict[str, int]]:
        return [{word: number for number, word in enumerate(data["words"])} for data, _ in self._parts]

    def holders(self, word: str) -> list[list[int]]:
        """The entries that hold a word: in the title, in the printed message, in the cause alone."""
        found: list[list[int]] = [[], [], []]
        for (data, places), numbers in zip(self._parts, self._numbers, strict=True):
            if (number := numbers.get(word)) is None:
                continue
            for into, text in zip(found, data["holders"][number].split("|"), strict=True):
                if text:
                    given = itertools.accumulate(int(step, 36) for step in text.split(","))
                    into += [place for n in given if (place := places[n]) is not None]
        return found

    def data(self) -> dict[str, Any]:
        """The index as `encode` makes it, of all parts together."""
        if len(self._parts) == 1 and list(self._parts[0][1]) == list(range(len(self.ids))):
            return self._parts[0][0]
        packed = [_packed([sorted(place) for place in self.holders(word)]) for word in self.words]
        facts = [[fact.commonness, fact.title_words, int(fact.harmless)] for fact in self.facts]
        return {"words": self.words, "holders": packed, "facts": facts}

    def find(self, asked: str) -> list[tuple[float, int]]:
        """Pairs of an entry's share of the asked words (0 to 1) and its place in ``ids``, the best first."""
        total = 0.0
        shares: defaultdict[int, float] = defaultdict(float)
        in_title: defaultdict[int, int] = defaultdict(int)
        for word in sorted(words(asked)):
            best: dict[int, float] = {}
            titled: set[int] = set()
            most = 0
            for variant, worth in self._variants(word).items():
                places = self.holders(variant)
                most = max(most, sum(map(len, places)))
                titled.update(places[0])
                for place, numbers in zip(PLACES, places, strict=True):
                    for number in numbers:
                        best[number] = max(best.get(number, 0.0), place * worth)
            if not most:
                continue
            weight = math.log(1 + len(self.ids) / most)
            total += weight
            for number, worth in best.items():
                shares[number] += weight * worth
            for number in titled:
                in_title[number] += 1
        in_id: defaultdict[int, int] = defaultdict(int)
        for pair in sorted(set(pairs(asked))):
            for number in self.holders(pair)[0]:
                in_id[number] += 1
        scored = []
        for number, sum_ in shares.items():
            share = sum_ / total
            if share >= LEAST:
                fact = self.facts[number]
                title = TITLE * in_title[number] / max(fact.title_words, 1)
                name = NAME * in_id[number] / max(self.ids[number].count("-"), 1)
                scored.append((_raised(share + title + name, fact), share, number))
        scored.sort(key=lambda item: (-item[0], self.ids[item[2]]))
        return [(share, number) for _, share, number in scored]

    def _variants(self, word: str) -> dict[str, float]:
        """The words of entries that are meant, and what each counts for."""
        at = bisect_left(self.words, word)
        known = at < len(self.words) and self.words[at] == word
        out = {word: 1.0} if known else {}
        if not word.isascii() or word[0].isdigit():
            return out
        if len(word) >= STEM or (not known and len(word) > 1):
            for other in self.words[at + known :]:
                if not other.startswith(word):
                    break
                out[other] = FORM
            for length in range(STEM, len(word)):
                start = word[:length]
                place = bisect_left(self.words, start)
                if place < len(self.words) and self.words[place] == start:
                    out[start] = FORM
        if not out and len(word) >= STEM:
            out = dict.fromkeys(self._spellings(word), TYPO)
        return out

    def _spellings(self, word: str) -> list[str]:
        """The words that differ least from an unknown one: in one character, or in two where it has seven or more."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        most = 1 if len(word) < 7 else 2
        near = process.extract(word, self.words, scorer=OSA.distance, score_cutoff=most, limit=None)
        least = min((far for _, far, _ in near), default=0)
        nearest = [other for other, far, _ in near if far == least]
        nearest.sort(key=lambda other: (-sum(map(len, self.holders(other))), other))
        return nearest[:SPELLINGS]


def _data(pack: Pack) -> dict[str, Any]:
    """What `encode` makes of the pack's entries: from the pack, or made now for a folder's."""
    data: dict[str, Any] | None = pack.index.search()
    if data is None:
        entries, related = pack.index.terms()
        data = encode({id_: Terms(*given) for id_, given in entries.items()}, related)
    return data


def _raised(score: float, fact: SearchFact) -> float:
    """The score with the entry's commonness."""
    common = min(1.0, math.log(1 + fact.commonness) / math.log(1 + COMMONEST))
    return score * (1 + COMMON * common) * (HARMLESS if fact.harmless else 1)


def _packed(places: Sequence[Sequence[int]]) -> str:
    return "|".join(
        ",".join(_base36(n - before) for before, n in zip((0, *numbers), numbers, strict=False)) for numbers in places
    )


def _base36(number: int) -> str:
    out = _DIGITS[number % 36]
    while number := number // 36:
        out = _DIGITS[number % 36] + out
    return out
