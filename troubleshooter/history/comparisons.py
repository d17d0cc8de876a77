"""Compare groups of runs, each version, host or GPU with all others, and test whether chance explains the difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Literal

from troubleshooter.history.asking import Answer, Narrowed, Question, Row
from troubleshooter.history.counting import cause_of, corrected, summary_table
from troubleshooter.history.significance import fisher_greater
from troubleshooter.history.store import History

MIN_RUNS = 5
"""Groups with fewer runs are listed, but not tested."""


def versions(history: History, asked: Narrowed) -> Answer:
    """Failures by version of a library, each against the other versions of the same library."""
    counts = _counts(history, "environment", asked)
    by_version: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    by_package: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for environment, package, version in history.rows("SELECT environment, package, version FROM versions"):
        runs, failed, _ = counts.get(environment, (0, 0, 0.0))
        if runs and (asked.package is None or package == asked.package):
            for kept in (by_version[package, version], by_package[package]):
                kept[0] += runs
                kept[1] += failed
    rows = []
    for (package, version), (runs, failed) in by_version.items():
        all_runs, all_failed = by_package[package]
        rows.append(
            {"package": package, "version": version, **_compared(failed, runs, all_failed - failed, all_runs - runs)}
        )
    return _judged("versions", rows, asked, lambda row: (row["package"], row["version"]))


def hosts(history: History, asked: Narrowed) -> Answer:
    """Hosts that fail more often than the others."""
    return _places(history, "host", asked)


def gpus(history: History, asked: Narrowed) -> Answer:
    """Models of GPUs that fail more often than the others."""
    return _places(history, "gpu", asked)


def _places(history: History, of: Literal["host", "gpu"], asked: Narrowed) -> Answer:
    counts = _counts(history, of, asked)
    counts.pop(0, None)  # runs whose log names none
    names = dict(history.rows(f"SELECT id, name FROM {of}s"))
    all_runs, all_failed = sum(c[0] for c in counts.values()), sum(c[1] for c in counts.values())
    rows = []
    for place, (runs, failed, lost) in counts.items():
        compared = _compared(failed, runs, all_failed - failed, all_runs - runs)
        rows.append({of: names[place], **compared, "lost_gpu_hours": round(lost, 1)})
    answer = _judged("hosts" if of == "host" else "gpus", rows, asked, lambda row: row[of])
    named = of == "host" and asked.cause is None
    for row in answer.rows:
        row["most_often"] = _most_often(history, row["host"], asked) if named and row["failed"] else None
    return answer


def _most_often(history: History, host: str, asked: Narrowed) -> str | None:
    """The most frequent failure of a host."""
    found = history.rows(
        "SELECT coalesce(c.entry, c.fingerprint) FROM (SELECT cause, count(*) AS runs FROM runs WHERE host = "
        "(SELECT id FROM hosts WHERE name = ?) AND ended >= ? AND failed GROUP BY cause ORDER BY 2 DESC, 1 LIMIT 1) "
        "JOIN causes c ON c.id = cause",
        (host, int(asked.since or 0)),
    )
    return str(found[0][0]) if found else None


def _counts(history: History, of: str, asked: Narrowed) -> dict[int, tuple[int, int, float]]:
    """By value of a column: runs, failures (of one cause, if the question names one), and the GPU hours that these failures lost."""
    table, where, values = summary_table(of, asked)
    rows = history.rows(f"SELECT value, sum(runs), sum(failed), sum(lost) FROM {table} {where} GROUP BY value", values)
    counts = {value: (runs, failed, lost) for value, runs, failed, lost in rows if runs}
    if asked.cause is None:
        return counts
    rows = history.rows(
        f"SELECT coalesce({of}, 0), count(*), sum(lost) FROM runs INDEXED BY runs_by_cause WHERE cause = ? AND day >= ? GROUP BY 1",
        (cause_of(history, asked.cause), values[0] if values else -(10**6)),
    )
    of_cause = {value: (failed, lost) for value, failed, lost in rows}
    return {value: (runs, *of_cause.get(value, (0, 0.0))) for value, (runs, _, _) in counts.items()}


def _compared(failed: int, runs: int, other_failed: int, other_runs: int) -> Row:
    """One group compared with all others. The probability is ``None`` if either has fewer than `MIN_RUNS` runs."""
    few = runs < MIN_RUNS or other_runs < MIN_RUNS
    return {
        "runs": runs, "failed": failed, "share": failed / runs, "share_of_others": other_failed / other_runs if other_runs else None,
        "probability": None if few else fisher_greater(failed, runs, other_failed, other_runs),
    }  # fmt: skip


def _judged(question: Question, rows: list[Row], asked: Narrowed, name: Callable[[Row], Any]) -> Answer:
    """The answer with corrected probabilities, the least probable rows first."""
    rows = corrected(rows, untested=False)
    rows.sort(
        key=lambda row: (
            1.0 if row["probability"] is None else row["probability"],
            -row["share"],
            -row["runs"],
            name(row),
        )
    )
    return Answer(question, rows[: asked.limit], "fisher-holm", len(rows))
