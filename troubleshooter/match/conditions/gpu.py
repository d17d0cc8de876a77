"""Which GPU the log names."""

from __future__ import annotations

import re

from kb import versions
from kb.compiled import Knowledge
from kb.compiled_conditions import GpuCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome, quoted
from troubleshooter.match.regex import search


def evaluate(condition: GpuCondition, context: Context) -> Outcome:
    """Whether a GPU of that name or compute capability is shown."""
    pattern, range_ = condition["gpu"], condition["capability"]
    said = " ".join(
        filter(None, [f"GPU {quoted(pattern)}" if pattern else "", f"capability {range_}" if range_ else ""])
    )
    named = context.observations.facts_of("gpu")
    if pattern:
        for fact in named:
            if search(pattern, fact.name):
                return Outcome("held", said, [Evidence(fact.line, fact.line.text, f"GPU {fact.name}")])
        if range_ is None:
            return Outcome("contradicted" if named else "unseen", said)
    known = [(fact.value, fact) for fact in context.observations.facts_of("capability")]
    for fact in named:
        known += [(str(value), fact) for value in _capabilities(fact.name, context.knowledge)]
    for value, fact in known:
        if range_ and versions.contains(range_, value):
            return Outcome("held", said, [Evidence(fact.line, fact.line.text, f"compute capability {value}")])
    return Outcome("contradicted" if known else "unseen", said)


def _capabilities(name: str, knowledge: Knowledge) -> list[str]:
    """The compute capabilities of a GPU, looked up by its name in the table."""
    words = re.findall(r"[A-Za-z0-9]+", name)
    for length in range(min(4, len(words)), 0, -1):  # the longest fragment that the table names
        for start in range(len(words) - length + 1):
            key = " ".join(words[start : start + length])
            if found := [str(row["capability"]) for row in knowledge.rows("gpu-capability", key)]:
                return found
    return []
