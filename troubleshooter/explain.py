"""``explain ENTRY LOG``: for each condition, whether it held, was contradicted or was not seen.

The code that matches computes this, so it can never disagree with a diagnosis.
"""

from __future__ import annotations

from typing import NamedTuple

from kb.compiled import Body, Knowledge
from troubleshooter.limits import limited
from troubleshooter.match.engine import candidates, passes, trials_of
from troubleshooter.match.outcome import Outcome, Trial
from troubleshooter.observe.observations import Observations
from troubleshooter.rank import Dropped, ranking
from troubleshooter.ranked import Ranked, RankKey


class SymptomTrial(NamedTuple):
    """The best trial of one symptom, whether the symptom holds in it, and the conditions that stop it."""

    symptom: str
    trial: Trial
    holds: bool
    failing: list[Outcome]


class Placing(NamedTuple):
    """The place of an entry among the answers to a log.

    ``answer`` is None if it is no answer; ``dropped`` says why, if one of its symptoms holds. ``first`` is the first
    answer, if that is another one, and ``decided_by`` is the part of the rank key that puts it first.
    """

    answer: Ranked | None
    dropped: Dropped | None
    first: Ranked | None
    decided_by: str | None


def explain(body: Body, base: int, observations: Observations, knowledge: Knowledge) -> list[SymptomTrial]:
    """For each symptom of an entry, the trial that comes closest to holding."""
    out = []
    for number, symptom in enumerate(body["symptoms"]):
        best: SymptomTrial | None = None
        for trial in trials_of(body, base, number, observations, knowledge):
            failing = [
                outcome
                for condition, outcome in zip(symptom["require"], trial.require, strict=True)
                if not passes(condition, outcome, body, symptom.get("strict", False))
            ]
            failing += [outcome for outcome in trial.exclude if outcome.state == "held"]
            one = SymptomTrial(symptom["name"], trial, not failing, failing)
            if best is None or len(one.failing) < len(best.failing):
                best = one
        if best is not None:
            out.append(best)
    return out


def placing(id_: str, observations: Observations, knowledge: Knowledge) -> Placing:
    """The place of the entry with this id among the answers, computed by the code that ranks."""
    answers, dropped = ranking(candidates(observations, knowledge), observations)
    answers = limited(answers, observations, knowledge)
    answer = next((one for one in answers if one.candidate.id == id_), None)
    first = answers[0] if answers and answers[0] is not answer else None
    return Placing(answer, dropped.get(id_), first, _decided_by(first, answer) if first and answer else None)


def _decided_by(above: Ranked, below: Ranked) -> str | None:
    """The first part of the rank key that differs; None if all parts are equal."""
    assert above.key is not None
    assert below.key is not None
    parts = zip(RankKey._fields, above.key, below.key, strict=True)
    return next((name for name, a, b in parts if a != b), None)
