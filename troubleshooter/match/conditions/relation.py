"""Whether captured values stand in a relation."""

from __future__ import annotations

from typing import Any

from kb.compiled_conditions import RelationCondition
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Outcome
from troubleshooter.match.relations import RELATIONS


def evaluate(condition: RelationCondition, context: Context) -> Outcome:
    """Whether a relation between captured values holds."""
    values: dict[str, Any] = {}
    for name, given in condition["of"].items():
        value: Any = given
        if isinstance(given, str):
            value = context.captured.get(given, context.filled(given) if "<<" in given else None)
        if value is None:
            return Outcome("unseen", f"{condition['relation']}: {name} is not in the log")
        values[name] = value
    function = RELATIONS.get(condition["relation"])
    said = f"{condition['relation']}({', '.join(f'{k}={v}' for k, v in values.items())})"
    found = function(**values) if function else None
    return Outcome("unseen" if found is None else "held" if found else "contradicted", said)
