"""With which status a process ended."""

from __future__ import annotations

from kb.compiled_conditions import ExitCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome


def evaluate(condition: ExitCondition, context: Context) -> Outcome:
    """Whether a process ended with one of the statuses."""
    said = "exit " + " or ".join(map(str, condition["statuses"]))
    for exit_ in context.observations.exits:
        if exit_.status in condition["statuses"]:
            captured = {} if exit_.rank is None else {"rank": str(exit_.rank)}
            return Outcome(
                "held", said, [Evidence(exit_.line, exit_.line.text, f"exit status {exit_.status}")], captured
            )
    return Outcome("contradicted" if context.observations.exits else "unseen", said)
