"""An answer about a library that the log does not show is at most "possible".

A log shows a library if a kept line, a frame or a version names it, its modules or its classes. A rare word in the evidence
(`main_grad`) shows it, too, because only few libraries print it. Words that many entries print ("must match the size of
tensor") do not show a library.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kb import lazy
from kb.compiled import Knowledge
from kb.libraries import SIGNS, spoken_of
from kb.likeness import has_rare_word
from troubleshooter.match.regex import search
from troubleshooter.observe.observations import Observations
from troubleshooter.ranked import Ranked
from troubleshooter.read.text import fold
from troubleshooter.weights import CERTAIN, DOUBTED, LIKELY

_ASIDE = lazy.compile(r"\([^()]{0,200}\)")


def doubted(ranked: Sequence[Ranked], observations: Observations, knowledge: Knowledge) -> list[Ranked]:
    """The answers, with a lower confidence for those about a library that the log does not show."""
    shown: str | None = None
    out = []
    for item in ranked:
        # A certain answer rests on words that prove it.
        if LIKELY <= item.confidence < CERTAIN and (named := _named(item, knowledge)):
            shown = _shown(observations) if shown is None else shown
            if not any(sign in shown for name in named for sign in SIGNS[name]) and _common(item, knowledge):
                note = "speaks of what the log does not show: " + ", ".join(sorted(named))
                item = item.limited("doubted", DOUBTED, note)
        out.append(item)
    return out


def _named(item: Ranked, knowledge: Knowledge) -> set[str]:
    """The libraries that an answer's title and summary are about. Text in parentheses does not count."""
    found = knowledge.find(item.candidate.id)
    assert found is not None
    body = found[0]
    return spoken_of(_ASIDE.sub("", f"{body['title']} {body.get('summary', '')}"))


def _shown(observations: Observations) -> str:
    """The text of everything that was kept of the log: its lines, exceptions with their frames, and versions; in lower
    case."""
    lines = {line.text for lines in observations.hits.values() for line in lines}
    frames = {frame.path for failure in observations.failures for frame in failure.frames}
    facts = {f"{fact.name} {fact.line.text}" for fact in observations.facts}
    return "\n".join([*lines, *frames, *facts, observations.all_messages]).lower()


def _common(item: Ranked, knowledge: Knowledge) -> bool:
    """True if every word on which the answer rests is printed by the failures of many entries."""
    anchor = item.candidate.trial.anchor
    if anchor is None:
        return False
    said = fold(anchor.failure.text if anchor.failure is not None else anchor.line.text)
    matched = [found.said for pattern in _patterns(item) if (found := search(pattern, said)) is not None]
    return bool(matched) and not has_rare_word(knowledge, " ".join(matched))


def _patterns(item: Ranked) -> Iterator[str]:
    """The patterns that the symptom requires."""
    stack: list[dict[str, Any]] = [
        condition
        for symptom in item.candidate.body["symptoms"]
        if symptom["name"] == item.candidate.trial.symptom
        for condition in symptom["require"]
    ]
    while stack:
        condition = stack.pop()
        yield from (pattern["re"] for pattern in condition.get("patterns", ()))
        stack += condition.get("parts", ())
