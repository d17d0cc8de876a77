"""Which phase the run was in."""

from __future__ import annotations

from kb.compiled_conditions import PhaseCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.observe import phases


def evaluate(condition: PhaseCondition, context: Context) -> Outcome:
    """Whether the run was in one of the phases."""
    wanted = set(condition["phases"])
    said = "phase " + " or ".join(sorted(wanted))
    failure = context.anchor.failure if context.anchor else None
    if failure is not None and (told := phases.of_failure(failure)):
        if told & wanted:
            return Outcome("held", said)
        return Outcome("contradicted", said)
    before = [
        (phase, line)
        for phase, line in context.observations.phases
        if context.anchor is None or (line.file, line.number) <= (context.anchor.line.file, context.anchor.line.number)
    ]
    if not before:
        return Outcome("unseen", said)
    phase, line = before[-1]
    if phase in wanted:
        return Outcome("held", said, [Evidence(line, line.text, "what was printed last before it")])
    return Outcome("unseen", said)
