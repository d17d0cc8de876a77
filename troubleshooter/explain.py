"""``explain ENTRY LOG``: condition by condition what held, what was contradicted and what was not seen.

Computed by the code that matches, so it can never disagree with a diagnosis.
"""

from __future__ import annotations

from kb.compiled import Body, Knowledge
from troubleshooter.lean import dataclass
from troubleshooter.match.engine import passes, trials
from troubleshooter.match.outcome import Outcome, Trial
from troubleshooter.observe.observations import Observations


@dataclass(slots=True)
class Explained:
    """The best trial of one symptom: does it hold, and which required or excluding conditions stop it."""

    symptom: str
    trial: Trial
    holds: bool
    failing: list[Outcome]


def explain(body: Body, base: int, observations: Observations, knowledge: Knowledge) -> list[Explained]:
    """Each symptom of an entry, tried where it comes closest."""
    out = []
    for number, symptom in enumerate(body["symptoms"]):
        best: Explained | None = None
        for trial in trials(body, base, number, observations, knowledge):
            failing = [
                outcome
                for condition, outcome in zip(symptom["require"], trial.require, strict=True)
                if not passes(condition, outcome, body, symptom.get("strict", False))
            ]
            failing += [outcome for outcome in trial.exclude if outcome.state == "held"]
            one = Explained(symptom["name"], trial, not failing, failing)
            if best is None or len(one.failing) < len(best.failing):
                best = one
        if best is not None:
            out.append(best)
    return out
