"""The condition `relation` as an author writes it."""

from __future__ import annotations

from kb.compiled_conditions import RelationCondition
from kb.conditions.base import ConditionExample, ConditionForm, Identifier, Meaning, Numbering


class RelationForm(ConditionForm):
    """A named predicate over captured values (see ``troubleshooter/match/relations.py``)."""

    KIND = "relation"
    KEYS = ("relation",)
    MEANING = Meaning(
        write="`relation: NAME`, `of: {a: …, b: …}`",
        holds="The captured values, or numbers, stand in this relation (list below).",
        contradicted="They do not.",
    )
    EXAMPLE = ConditionExample(
        condition={"relation": "greater", "of": {"a": "used", "b": "given"}},
        held="quux.QuuxError: the flux capacitor is empty after 9 of 8 steps",
        contradicted="quux.QuuxError: the flux capacitor is empty after 3 of 8 steps",
    )

    relation: Identifier
    of: dict[str, str | int | float]

    def compile(self, number: Numbering) -> RelationCondition:
        return {"kind": "relation", "relation": self.relation, "of": self.of}
