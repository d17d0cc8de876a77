"""Whether a condition does not hold."""

from __future__ import annotations

from kb.compiled_conditions import NotCondition, has
from troubleshooter.match.context import Context, Evaluate
from troubleshooter.match.outcome import Outcome
from troubleshooter.match.tolerated import tolerated


def combine(condition: NotCondition, context: Context, evaluate: Evaluate) -> Outcome:
    part = evaluate(condition["part"], context)
    said = f"not: {part.said}"
    if part.state == "held":
        return Outcome("contradicted", said, part.evidence)
    # What was never printed is absent; what a paste rarely holds (frames, versions, GPUs, values) is only unknown.
    asked = condition["part"]
    absent = part.state == "contradicted" or not (tolerated(asked) or has(asked, "value"))
    return Outcome("held" if absent else "unseen", said)
