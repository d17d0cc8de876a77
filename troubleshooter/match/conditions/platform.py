"""On which platform the log was written."""

from __future__ import annotations

from kb.compiled_conditions import PlatformCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome

_SYSTEMS = ("windows", "linux", "macos")


def evaluate(condition: PlatformCondition, context: Context) -> Outcome:
    """Whether the run was on the platform."""
    wanted = condition["platform"]
    seen = {fact.name: fact for fact in context.observations.facts_of("platform")}
    if wanted in seen:
        fact = seen[wanted]
        return Outcome("held", f"platform {wanted}", [Evidence(fact.line, fact.line.text, wanted)])
    other = wanted in _SYSTEMS and any(name in seen for name in _SYSTEMS)
    return Outcome("contradicted" if other else "unseen", f"platform {wanted}")
