"""Whether a table has a row for the captured values."""

from __future__ import annotations

from typing import Any

from kb.compiled_conditions import RowCondition
from kb.wild import WILD, fits
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Outcome


def evaluate(condition: RowCondition, context: Context) -> Outcome:
    """Whether the table has a row for the captured values."""
    said = f"row of {condition['row']} where {condition['where']}"
    where: dict[str, str] = {}
    for column, given in condition["where"].items():
        value = context.filled(given)
        if value is None:
            return Outcome("unseen", said)
        where[column] = value
    key = where.get("name", next(iter(where.values())))
    for row in context.knowledge.rows(condition["row"], key):
        if all(_cell(row.get(column), value) for column, value in where.items()):
            captured = {name: str(value) for name, value in row.items() if isinstance(value, (str, int, float))}
            return Outcome("held", said, [], captured)
    return Outcome("contradicted", said)


def _cell(cell: Any, wanted: str) -> bool:
    """Whether a cell has the value. A cell may list several values, and an item such as ``*Config`` is a pattern."""
    if wanted == "*":
        return cell not in (None, "", [])
    if wanted == "-":
        return cell in (None, "", [])
    if isinstance(cell, list):
        return wanted in cell or any(fits(wanted, one) for one in map(str, cell) if not WILD.isdisjoint(one))
    return str(cell) == wanted
