"""The condition `row` as an author writes it."""

from __future__ import annotations

from kb.compiled_conditions import RowCondition
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering


class RowForm(ConditionForm):
    """A row of a table (``entries/tables``); its columns become placeholders.

    ``where`` values: a literal, ``<<capture>>``, ``*`` (has a value) or ``-`` (has none).
    """

    KIND = "row"
    KEYS = ("row",)
    MEANING = Meaning(
        write='`row: TABLE`, `where: {column: "<<capture>>"}`',
        holds=(
            "The table in `entries/tables/` has such a row; its columns become placeholders. A value is a literal, a "
            "`<<capture>>`, `*` (has a value) or `-` (has none). A column of the table may list several values and patterns "
            "(`*Config`): one of them must fit. A row of kind `family` stands for the names of a module that fit its pattern and have "
            "no row of their own."
        ),
        contradicted="The table has no such row.",
    )
    EXAMPLE = ConditionExample(
        condition={"row": "nccl-status", "where": {"number": "<<used>>"}},
        held="quux.QuuxError: the flux capacitor is empty after 2 of 8 steps",
        contradicted="quux.QuuxError: the flux capacitor is empty after 99 of 8 steps",
    )

    row: str
    where: dict[str, str]

    def compile(self, number: Numbering) -> RowCondition:
        return {"kind": "row", "row": self.row, "where": self.where}
