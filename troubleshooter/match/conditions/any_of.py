"""Whether at least one of several conditions holds."""

from __future__ import annotations

from kb.compiled_conditions import AnyCondition
from troubleshooter.match.context import Context, Evaluate
from troubleshooter.match.outcome import Outcome, State


def combine(condition: AnyCondition, context: Context, evaluate: Evaluate) -> Outcome:
    parts = [evaluate(part, context) for part in condition["parts"]]
    held = [p for p in parts if p.state == "held"]
    if held:
        best = max(held, key=lambda p: (p.length, -p.parts_unseen))
        return Outcome("held", best.said, best.evidence, best.captured, best.parts_unseen, best.length, parts)
    state: State = "contradicted" if all(p.state == "contradicted" for p in parts) else "unseen"
    return Outcome(state, "any of: " + "; ".join(p.said for p in parts), parts=parts)
