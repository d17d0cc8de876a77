"""On how many ranks the failure was seen."""

from __future__ import annotations

from kb.compiled_conditions import RanksCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome, State


def evaluate(condition: RanksCondition, context: Context) -> Outcome:
    """Whether the failure was seen on one rank, on several, or on this rank first."""
    said = f"ranks: {condition['ranks']}"
    failure = context.anchor.failure if context.anchor else None
    if failure is None or not failure.ranks:
        return Outcome("unseen", said)
    wanted = condition["ranks"]
    if wanted == "first":
        others = [f for f in context.observations.failures if f.ranks and f is not failure and f.role == "initiating"]
        state: State = "held" if all(failure.line.number <= f.line.number for f in others) else "contradicted"
    else:
        state = "held" if (len(failure.ranks) == 1) == (wanted == "one") else "contradicted"
    return Outcome(state, said, [Evidence(failure.line, failure.line.text, f"ranks {sorted(failure.ranks)}")])
