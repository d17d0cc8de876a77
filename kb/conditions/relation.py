"""The condition `relation` as an author writes it."""

from __future__ import annotations

from kb.compiled_conditions import RelationCondition
from kb.conditions.base import ConditionForm, Identifier, Meaning, Numbering


class RelationForm(ConditionForm):
    """A named predicate over captured values (see ``troubleshooter/match/relations.py``)."""

    KIND = "relation"
    KEYS = ("relation",)
    MEANING = Meaning(
        write=("`relation: NAME`, `of: {a: …, b: …}`"),
        holds=("The captured values, or numbers, stand in this relation (list below)."),
        contradicted=("They do not."),
    )

    relation: Identifier
    of: dict[str, str | int | float]

    def compile(self, number: Numbering) -> RelationCondition:
        return {"kind": "relation", "relation": self.relation, "of": self.of}
