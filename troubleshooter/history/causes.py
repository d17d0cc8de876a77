"""Questions about failures by their cause and day: what fails most, what is new, what grows, and whether a fix helped."""

from __future__ import annotations

from troubleshooter.history.asking import Answer, Narrowed, day, moment, required
from troubleshooter.history.counting import cause_of, corrected, summary_table
from troubleshooter.history.significance import LEVEL, fisher_greater, fisher_less, wilson
from troubleshooter.history.store import SECONDS_A_DAY, History


def daily(history: History, cause: int | None, first: int, last: int) -> dict[int, tuple[int, int]]:
    """By day: the number of runs, and of failures of a cause (``None``: of any cause)."""
    rows = history.rows(
        "SELECT day, sum(runs), sum(CASE WHEN :cause IS NULL THEN failed WHEN value = :cause THEN failed ELSE 0 END) "
        "FROM daily_cause WHERE day BETWEEN :first AND :last GROUP BY day",
        {"cause": cause, "first": first, "last": last},
    )
    return {number: (runs, failed) for number, runs, failed in rows if runs}


def failures(history: History, asked: Narrowed) -> Answer:
    """What fails most, and what it costs."""
    table, where, values = summary_table("cause", asked)
    rows = history.rows(
        "SELECT c.fingerprint, c.entry, c.title, c.severity, c.retry, d.failed, d.lost, (SELECT min(day) FROM runs WHERE cause = c.id), "
        f"(SELECT max(day) FROM runs WHERE cause = c.id) FROM (SELECT value, sum(failed) AS failed, sum(lost) AS lost FROM {table} "
        f"{where} GROUP BY value HAVING sum(failed) > 0) d JOIN causes c ON c.id = d.value ORDER BY d.failed DESC, c.fingerprint",
        values,
    )
    all_runs = history.rows(f"SELECT coalesce(sum(runs), 0) FROM {table} {where}", values)[0][0]
    out = [
        {
            "cause": entry or fingerprint, "title": title, "known": entry is not None, "severity": severity, "retry": retry,
            "runs": runs, "share": runs / all_runs, "lost_gpu_hours": round(lost, 1), "first_seen": day(first), "last_seen": day(last),
        }
        for fingerprint, entry, title, severity, retry, runs, lost, first, last in rows
    ]  # fmt: skip
    return Answer("failures", out[: asked.limit], total=len(out))


def new(history: History, asked: Narrowed) -> Answer:
    """Failures that were first seen since a day."""
    since = asked.since if asked.since is not None else asked.present - asked.days * SECONDS_A_DAY
    found = failures(history, asked._replace(since=None, limit=10**9))
    first = dict(
        history.rows(
            "SELECT coalesce(c.entry, c.fingerprint), (SELECT min(ended) FROM runs WHERE cause = c.id) FROM causes c WHERE "
            "(SELECT min(day) FROM runs WHERE cause = c.id) >= ?",
            (int(since // SECONDS_A_DAY),),
        )
    )
    rows = [
        {**row, "first_seen": moment(first[row["cause"]])} for row in found.rows if first.get(row["cause"], -1) >= since
    ]
    rows.sort(key=lambda row: row["first_seen"])
    return Answer("new", rows[: asked.limit], total=len(rows))


def fix(history: History, asked: Narrowed) -> Answer:
    """Whether a fix helped: the share of runs that failed of the cause, before a day and from that day on."""
    name = required(asked.cause, "fix", "--cause ID")
    cause = cause_of(history, name)
    at = int(required(asked.at, "fix", "--at DATE") // SECONDS_A_DAY)
    found = daily(history, cause, at - asked.days, at + asked.days - 1)
    counts = [
        tuple(sum(part) for part in zip((0, 0), *(found[d] for d in found if (d < at) == early), strict=True))
        for early in (True, False)
    ]
    (runs_before, before), (runs_after, after) = counts
    less = fisher_less(after, runs_after, before, runs_before)
    more = fisher_greater(after, runs_after, before, runs_before)
    verdict = "helped" if less < LEVEL else "worse" if more < LEVEL else "not-shown"
    row = {
        "cause": name, "at": day(at), "days": asked.days, "runs_before": runs_before, "failed_before": before,
        "share_before": before / runs_before if runs_before else None, "interval_before": _interval(before, runs_before),
        "runs_after": runs_after, "failed_after": after, "share_after": after / runs_after if runs_after else None,
        "interval_after": _interval(after, runs_after), "probability": more if verdict == "worse" else less, "verdict": verdict,
    }  # fmt: skip
    return Answer("fix", [row], "fisher", 1)


def unknown(history: History, asked: Narrowed) -> Answer:
    """Unknown failures that become more frequent: the last days are compared with as many days before them."""
    end = int(asked.present // SECONDS_A_DAY) + 1
    middle, first = end - asked.days, end - 2 * asked.days
    runs = dict(
        history.rows(
            "SELECT day >= ?, sum(runs) FROM daily_cause WHERE day >= ? AND day < ? GROUP BY 1", (middle, first, end)
        )
    )
    recent_runs, earlier_runs = runs.get(1) or 0, runs.get(0) or 0
    found = history.rows(
        "SELECT c.fingerprint, c.title, sum(CASE WHEN d.day >= :middle THEN d.failed ELSE 0 END), "
        "sum(CASE WHEN d.day < :middle THEN d.failed ELSE 0 END), sum(d.lost) FROM daily_cause d JOIN causes c ON c.id = d.value "
        "WHERE c.entry IS NULL AND d.day >= :first AND d.day < :end GROUP BY c.id HAVING sum(d.failed) > 0",
        {"middle": middle, "first": first, "end": end},
    )
    rows = [
        {
            "cause": fingerprint, "title": title, "before": before, "recent": recent, "days": asked.days, "lost_gpu_hours": round(lost, 1),
            "probability": fisher_greater(recent, recent_runs, before, earlier_runs),
        }
        for fingerprint, title, recent, before, lost in found
    ]  # fmt: skip
    rows = corrected(rows, untested=None)
    rows.sort(key=lambda row: (row["probability"], row["before"] - row["recent"], row["cause"]))
    return Answer("unknown", rows[: asked.limit], "fisher-holm", len(rows))


def _interval(failed: int, runs: int) -> list[float] | None:
    return [round(end, 4) for end in wilson(failed, runs)] if runs else None
