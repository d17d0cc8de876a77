"""Explain why an entry is the answer: its conditions, and the lines of the log that show them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kb.text.catalog import ENGLISH, Section, language
from troubleshooter.explain import Placing, SymptomTrial, explain
from troubleshooter.match.outcome import Outcome
from troubleshooter.observe.observations import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.report.fill import safe
from troubleshooter.report.words import say
from troubleshooter.weights import Step

_MARKS = {"held": "✓", "contradicted": "✗", "unseen": "·"}
_say = Section("why")
_kind = Section("conditions")
_weight = Section("weights")
_KIND = re.compile(rf"(?:^|(?<=[:;] ))(?:{'|'.join(language(ENGLISH).phrases[_kind.name])})\b")
"""The kind of a condition, at the beginning of its description."""


def why(diagnoser: Diagnoser, id_: str, observations: Observations, lang: str) -> list[str]:
    """Lines that say which conditions of an entry hold on a log: for each symptom that holds, or else for the closest one."""
    found = diagnoser.knowledge.find(id_)
    if found is None:
        return []
    tried = explain(*found, observations, diagnoser.knowledge)
    shown = [one for one in tried if one.holds] or sorted(tried, key=lambda one: len(one.failing))[:1]
    return [line for one in shown for line in _symptom(one, lang)]


def _symptom(one: SymptomTrial, lang: str) -> Iterator[str]:
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


def placed(placing: Placing, lang: str) -> Iterator[str]:
    """Lines that say how sure an answer is, by which weights, and why another answer comes before it."""
    answer, dropped, first, decided_by = placing
    if answer is not None:
        yield _weight("confidence", lang, value=f"{answer.confidence:.2f}", weights=_weights(answer.score.steps, lang))
    elif dropped is not None:
        yield _weight(f"dropped-{dropped}", lang)
    if first is None:
        return
    above = first.candidate.id
    yield _weight("first", lang, id=above, value=f"{first.confidence:.2f}", weights=_weights(first.score.steps, lang))
    if answer is not None:
        yield _weight("above", lang, id=above, why=_weight(f"by-{decided_by}", lang))


def _weights(steps: Iterable[Step], lang: str) -> str:
    """The steps as a sum: "0.93 decisive + 0.06 support, at most 0.99 (no answer is beyond doubt)"."""
    text = ""
    for step in steps:
        reason = _weight(f"step-{step.reason}", lang)
        if step.how == "start":
            text = f"{step.by:.2f} {reason}"
        elif step.how == "add":
            text += f" {'+' if step.by > 0 else '−'} {abs(step.by):.2f} {reason}"
        elif step.how == "times":
            text = f"({text}) × {step.by:.2f} {reason}"
        else:
            text += _weight(step.how, lang, value=f"{step.by:.2f}", reason=reason)
    return text
