"""What the questions share: the number of a cause, the right summary table, and the correction of many tests."""

from __future__ import annotations

from collections.abc import Sequence

from kb.errors import UsageError
from troubleshooter.history.asking import Narrowed, Row
from troubleshooter.history.significance import LEVEL, holm
from troubleshooter.history.store import SECONDS_A_DAY, History


def cause_of(history: History, name: str) -> int:
    """The row number of a cause, given an entry's id or a fingerprint. Raises `UsageError` if no run failed of it."""
    found = history.rows(
        "SELECT id FROM causes WHERE entry = :name OR fingerprint = :name ORDER BY id LIMIT 1", {"name": name}
    )
    if not found:
        raise UsageError(f"{name}: no run of this history failed so; see: troubleshoot history failures")
    return int(found[0][0])


def summary_table(of: str, asked: Narrowed) -> tuple[str, str, tuple[int, ...]]:
    """The smallest summary table of a column that can answer, the SQL condition on its rows, and the condition's values."""
    if asked.since is None:
        return f"total_{of}", "", ()
    return f"daily_{of}", "WHERE day >= ?", (int(asked.since // SECONDS_A_DAY),)


def corrected(rows: Sequence[Row], untested: bool | None) -> list[Row]:
    """The rows with each ``probability`` corrected for the number of tests (Holm), and whether it is ``significant``.

    A row whose probability is ``None`` was not tested; its ``significant`` becomes ``untested``.
    """
    probabilities = iter(holm([row["probability"] for row in rows if row["probability"] is not None]))
    marked: list[Row] = []
    for row in rows:
        probability = None if row["probability"] is None else next(probabilities)
        significant = untested if probability is None else probability < LEVEL
        marked.append({**row, "probability": probability, "significant": significant})
    return marked
