"""Whether all of several conditions hold."""

from __future__ import annotations

from kb.compiled_conditions import AllCondition
from troubleshooter.match.context import Context, Evaluate
from troubleshooter.match.outcome import Outcome
from troubleshooter.match.tolerated import tolerated


def combine(condition: AllCondition, context: Context, evaluate: Evaluate) -> Outcome:
    parts: list[Outcome] = []
    inner = context
    for part in condition["parts"]:
        outcome = evaluate(part, inner)
        parts.append(outcome)
        if outcome.captured:
            merged = {**inner.captured, **outcome.captured}
            inner = Context(context.observations, context.knowledge, context.base, context.anchor, merged)
    said = "all of: " + "; ".join(p.said for p in parts)
    if any(p.state == "contradicted" for p in parts):
        return Outcome("contradicted", said, parts=parts)
    if any(p.state == "unseen" and not tolerated(c) for p, c in zip(parts, condition["parts"], strict=True)):
        return Outcome("unseen", said, parts=parts)
    unseen = sum(p.parts_unseen + (p.state == "unseen") for p in parts)
    evidence = [e for p in parts for e in p.evidence]
    captured = {k: v for p in parts for k, v in p.captured.items()}
    return Outcome("held", said, evidence, captured, unseen, sum(p.length for p in parts), parts)
