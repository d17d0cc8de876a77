"""Search over entries: words that few entries have count most, typing errors are forgiven, both languages.

A comparison of characters (rapidfuzz's token_set_ratio and partial_ratio over each text) gave a pasted message to whatever
long text shared its small words, and a hundred points to all that held the words somewhere.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from kb import likeness
from kb.compiled import Body, Knowledge
from kb.placeholders import general

IN_TITLE, PRINTED, IN_CAUSE = 1.0, 0.8, 0.5
"""What a word counts for where it stands in title or id, in what the failure prints, in the cause."""
FORM, TYPO, ALIKE = 0.7, 0.7, 75
"""What another form of a word counts for (merge, merging), and a word that is spelled nearly so; how nearly, of 100."""
STEM = 4
"""Characters that two forms of a word share at least."""
LEAST = 35
"""Points that a find needs: of the words that were asked for, by weight, about a third."""
TITLE = 5.0
"""Points for a title that tells of nothing but the words."""

_CHINESE = re.compile(r"[\u4e00-\u9fff]+")
_NUMBER = re.compile(r"(?<![\w.])\d{3,}(?![\w.])")
_SMALL = frozenset(
    ("an", "and", "are", "as", "at", "be", "but", "by", "for", "from", "has", "in", "into", "is", "it", "its", "not", "of", "on", "or",
     "so", "than", "that", "the", "this", "to", "was", "with")
)  # fmt: skip


def search(knowledge: Knowledge, asked: str, limit: int = 10) -> list[tuple[float, Body]]:
    """Entries that the words fit best, with a score from 0 to 100 (what stands in the title makes it a little more)."""
    entries = [(body, _places(body)) for body in knowledge.bodies()]
    holders: defaultdict[str, int] = defaultdict(int)
    for _, places in entries:
        for word in places:
            holders[word] += 1
    wanted = {word: _variants(word, holders) for word in words(asked)}
    weights = {
        word: math.log(1 + len(entries) / max((holders[v] for v in variants), default=1)) if variants else 0.0
        for word, variants in wanted.items()
    }
    total = sum(weights.values())
    found = []
    for body, places in entries:
        got = sum(
            weights[word] * max((places.get(v, 0.0) * worth for v, worth in variants.items()), default=0.0)
            for word, variants in wanted.items()
        )
        if got <= 0 or (score := 100 * got / total) < LEAST:
            continue
        title = _of(_titles(body))
        told = sum(any(v in title for v in variants) for variants in wanted.values())
        found.append((score + TITLE * told / max(len(title), 1), body))
    found.sort(key=lambda item: (-item[0], item[1]["id"]))
    return [(min(score, 100.0), body) for score, body in found[:limit]]


def words(text: str) -> set[str]:
    """The words of a text as `likeness.words` has them, numbers such as those of models, and Chinese as pairs of characters:
    where a word begins is not known."""
    found = {word for word in likeness.words(text) if word.isascii()}
    found.update(_NUMBER.findall(text))
    found.update(run[i : i + 2] for run in _CHINESE.findall(text) for i in range(max(len(run) - 1, 1)))
    return found - _SMALL


def _places(body: Body) -> dict[str, float]:
    """The words of an entry, and what each counts for."""
    zh = body.get("zh") or {}
    patterns = (
        pattern["re"].replace("\\", " ")
        for symptom in body["symptoms"]
        for condition in symptom["require"]
        for pattern in condition.get("patterns", ())
    )
    places: dict[str, float] = {}
    for worth, texts in (
        (IN_CAUSE, (body["cause"], zh.get("cause", ""))),
        (PRINTED, (*patterns, *body.get("printed", ()))),
        (IN_TITLE, (*_titles(body), body["id"].replace("-", " "))),
    ):
        places.update(dict.fromkeys(_of(texts), worth))
    return places


def _titles(body: Body) -> list[str]:
    return [general(told["title"]) for told in (body, body.get("zh")) if told]


def _of(texts: Iterable[str]) -> set[str]:
    return set().union(*map(words, texts))


def _variants(word: str, known: Mapping[str, int]) -> dict[str, float]:
    """The words of entries that are meant, and what each counts for."""
    out = {word: 1.0} if word in known else {}
    if len(word) >= STEM and word.isascii():
        out |= {
            other: FORM
            for other in known
            if other != word and len(other) >= STEM and (other.startswith(word) or word.startswith(other))
        }
    if not out and len(word) >= STEM:
        from rapidfuzz import fuzz, process

        out = {
            other: TYPO
            for other, _, _ in process.extract(word, known.keys(), scorer=fuzz.ratio, score_cutoff=ALIKE, limit=3)
        }
    return out
