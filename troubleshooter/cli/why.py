"""Why an entry is the answer: what it asks for, and which line of the log shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.text.catalog import ENGLISH, Section, language
from troubleshooter.explain import Explained, explain
from troubleshooter.match.outcome import Outcome
from troubleshooter.observe.observations import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.fill import safe
from troubleshooter.report.words import say

_MARKS = {"held": "✓", "contradicted": "✗", "unseen": "·"}
_say = Section("why")
_kind = Section("conditions")
_KIND = re.compile(rf"(?:^|(?<=[:;] ))(?:{'|'.join(language(ENGLISH).phrases[_kind.name])})\b")
"""What a condition asks for, as its description begins."""


def why(diagnoser: Diagnoser, id_: str, observations: Observations, lang: str) -> list[str]:
    """Lines that say which conditions of an entry hold on a log; of its symptoms those that hold, or else the nearest."""
    found = diagnoser.knowledge.find(id_)
    if found is None:
        return []
    tried = explain(*found, observations, diagnoser.knowledge)
    shown = [one for one in tried if one.holds] or sorted(tried, key=lambda one: len(one.failing))[:1]
    return [line for one in shown for line in _symptom(one, lang)]


def _symptom(one: Explained, lang: str) -> Iterator[str]:
    parts = (("require", one.trial.require), ("support", one.trial.support), ("exclude", one.trial.exclude))
    for key, outcomes in parts:
        if outcomes:
            yield _say(key, lang) + say("colon", lang).rstrip()
        for outcome in outcomes:
            yield from _condition(outcome, lang)


def _condition(outcome: Outcome, lang: str) -> Iterator[str]:
    state = _say(outcome.state, lang)
    said = _KIND.sub(lambda kind: _kind(kind[0], lang), outcome.said)
    yield f"  {_MARKS[outcome.state]} {state}{say('colon', lang)}{safe(said, 400)}"
    for shown in outcome.evidence[:2]:
        yield f"      {say('line', lang, line=shown.line.number)}{say('colon', lang)}{safe(shown.text.strip(), 200)}"
