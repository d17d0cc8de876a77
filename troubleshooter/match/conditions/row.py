"""Whether a table has a row for the captured values.

A name without a row of its own may belong to a family: one row for many names of a module (``TF[A-Z]*``), which went together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kb.compiled_conditions import RowCondition
from kb.wild import FAMILIES, WILD, fits
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
    rows = list(context.knowledge.rows(condition["row"], key))
    row = next((row for row in rows if _holds(row, where)), None)
    if row is None and "module" in where and not any(row.get("module") == where["module"] for row in rows):
        row = _family(context.knowledge.rows(condition["row"], FAMILIES), key, where)
    if row is None:
        return Outcome("contradicted", said)
    captured = {name: str(value) for name, value in row.items() if isinstance(value, (str, int, float))}
    return Outcome("held", said, [], captured)


def _family(rows: Iterable[dict[str, Any]], name: str, where: dict[str, str]) -> dict[str, Any] | None:
    """The row of the largest family that the name belongs to, with this name in place of the pattern."""
    fitting = [row for row in rows if fits(name, row["name"]) and _holds({**row, "name": name}, where)]
    return {**max(fitting, key=lambda row: row["members"]), "name": name} if fitting else None


def _holds(row: dict[str, Any], where: dict[str, str]) -> bool:
    return all(_cell(row.get(column), value) for column, value in where.items())


def _cell(cell: Any, wanted: str) -> bool:
    """Whether a cell has the value. A cell may list several values, and an item such as ``*Config`` is a pattern."""
    if wanted == "*":
        return cell not in (None, "", [])
    if wanted == "-":
        return cell in (None, "", [])
    if isinstance(cell, list):
        return wanted in cell or any(fits(wanted, one) for one in map(str, cell) if not WILD.isdisjoint(one))
    return str(cell) == wanted
