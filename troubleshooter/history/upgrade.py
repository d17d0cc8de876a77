"""After which change of a job a failure was first seen."""

from __future__ import annotations

from collections import defaultdict

from troubleshooter.history.asking import Answer, Narrowed, Row, moment, required
from troubleshooter.history.counting import cause_of, corrected
from troubleshooter.history.runs import RunSets
from troubleshooter.history.significance import fisher_greater
from troubleshooter.history.store import History

MOST_JOBS = 300
"""At most this many jobs are compared: those that failed earliest."""


def upgrade(history: History, asked: Narrowed) -> Answer:
    """Changes after which a failure was first seen: what differs between a job's first failed run and the run before it."""
    cause = cause_of(history, required(asked.cause, "upgrade", "--cause ID"))
    firsts = history.rows(
        "SELECT job, min(ended) FROM runs INDEXED BY runs_by_cause_and_time WHERE cause = ? GROUP BY job ORDER BY 2 LIMIT ?",
        (cause, MOST_JOBS),
    )
    changes: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    sets = RunSets(history)
    for job, first in firsts:
        after = history.rows(
            "SELECT environment, settings, host, gpu FROM runs WHERE job = ? AND ended = ? AND cause = ? ORDER BY id LIMIT 1",
            (job, first, cause),
        )
        before = history.rows(
            "SELECT environment, settings, host, gpu FROM runs WHERE job = ? AND ended < ? ORDER BY ended DESC LIMIT 1",
            (job, first),
        )
        if after and before:
            for change in sets.changes(before[0], after[0]):
                changes[change].append(first)
    rates = _version_rates(history, cause)
    rows = []
    for (kind, name, old, new), times in changes.items():
        row: Row = {
            "kind": kind,
            "name": name,
            "before": old,
            "after": new,
            "jobs": len(times),
            "of_jobs": len(firsts),
            "first": moment(min(times)),
            "share_before": None,
            "share_after": None,
            "probability": None,
        }
        if kind == "version" and (name, old) in rates and (name, new) in rates:
            (old_runs, old_failed), (new_runs, new_failed) = rates[name, old], rates[name, new]
            row |= {"share_before": old_failed / old_runs, "share_after": new_failed / new_runs}
            row["probability"] = fisher_greater(new_failed, new_runs, old_failed, old_runs)
        rows.append(row)
    rows = corrected(rows, untested=None)
    rows.sort(
        key=lambda row: (
            -row["jobs"],
            row["probability"] if row["probability"] is not None else 1.0,
            row["kind"],
            row["name"],
        )
    )
    return Answer("upgrade", rows[: asked.limit], "fisher-holm", len(rows))


def _version_rates(history: History, cause: int) -> dict[tuple[str, str], tuple[int, int]]:
    """By package and version: runs, and failures of the cause."""
    counts = dict(history.rows("SELECT value, runs FROM total_environment"))
    failed = dict(history.rows("SELECT environment, count(*) FROM runs WHERE cause = ? GROUP BY environment", (cause,)))
    out: dict[tuple[str, str], tuple[int, int]] = {}
    for environment, package, version in history.rows("SELECT environment, package, version FROM versions"):
        runs, bad = out.get((package, version), (0, 0))
        out[package, version] = runs + counts.get(environment, 0), bad + failed.get(environment, 0)
    return {key: value for key, value in out.items() if value[0]}
