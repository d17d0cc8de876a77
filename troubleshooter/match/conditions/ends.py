"""How the log ends."""

from __future__ import annotations

from kb.compiled_conditions import EndsCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome


def evaluate(condition: EndsCondition, context: Context) -> Outcome:
    """Whether the log ends in this way. If the log breaks off, the end of the process itself counts as not seen."""
    said = f"the log ends: {condition['ends']}"
    state, line, _ = context.observations.ending
    if state == condition["ends"] and line is not None:
        why = "the exit status" if state == "failed" else "the last line of the training"
        return Outcome("held", said, [Evidence(line, line.text, why)], parts_unseen=int(state != "failed"))
    return Outcome("contradicted" if state == "ended" else "unseen", said)
