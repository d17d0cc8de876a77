"""The questions that a history answers. Each gives rows of plain values, and the keys say their units."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, Literal, NamedTuple, get_args

from kb.errors import UsageError
from troubleshooter.history.significance import LEVEL, fisher_greater, fisher_less, holm, wilson
from troubleshooter.history.store import SECONDS_A_DAY, History

Question = Literal["failures", "new", "versions", "hosts", "gpus", "upgrade", "fix", "unknown", "runs"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
LIMIT = 20
WINDOW_DAYS = 14
MOST_JOBS = 300
"""Jobs that are asked for the change before their first failure of a kind; the earliest ones."""
MIN_RUNS = 5
"""Versions with fewer runs are listed, but not tested."""

Row = dict[str, Any]


class Narrowed(NamedTuple):
    """What narrows a question. ``cause``: the id of an entry or a fingerprint; ``since``, ``at``: seconds since 1970."""

    cause: str | None = None
    since: float | None = None
    at: float | None = None
    days: int = WINDOW_DAYS
    package: str | None = None
    host: str | None = None
    job: str | None = None
    limit: int = LIMIT
    now: float | None = None


class Answer(NamedTuple):
    """The rows of an answer, the test by which they were judged ("" where none was), and how many rows there are in all."""

    question: Question
    rows: list[Row]
    test: str = ""
    total: int = 0


def when(text: str, now: float | None = None) -> float:
    """The time that a text means: a day (``2026-11-23``), with a time of the day, or so many days ago (``14d``); UTC.

    Raises `UsageError`.
    """
    if (ago := re.fullmatch(r"(\d{1,5})d", text)) is not None:
        return (now or time.time()) - int(ago[1]) * SECONDS_A_DAY
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text}: no date; expected such as 2026-11-23, 2026-11-23T08:30 or 14d (days ago)") from None
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def ask(history: History, question: Question, asked: Narrowed) -> Answer:
    """The answer to a question. Raises `UsageError` where it needs more, or names what the history does not know."""
    return _ANSWERS[question](history, asked)


def day(number: int) -> str:
    """A day by its number since 1970."""
    return (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(days=number)).strftime("%Y-%m-%d")


def moment(seconds: float) -> str:
    """A time as text, UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M")


def daily(history: History, cause: int | None, first: int, last: int) -> dict[int, tuple[int, int]]:
    """By day: runs, and failures of a cause (None: of any)."""
    rows = history.rows(
        "SELECT day, sum(runs), sum(CASE WHEN :cause IS NULL THEN failed WHEN value = :cause THEN failed ELSE 0 END) "
        "FROM daily_cause WHERE day BETWEEN :first AND :last GROUP BY day",
        {"cause": cause, "first": first, "last": last},
    )
    return {number: (runs, failed) for number, runs, failed in rows if runs}


def cause_of(history: History, name: str) -> int:
    """The number of a cause by its entry or fingerprint. Raises `UsageError` where the history has none."""
    found = history.rows(
        "SELECT id FROM causes WHERE entry = :name OR fingerprint = :name ORDER BY id LIMIT 1", {"name": name}
    )
    if not found:
        raise UsageError(f"{name}: no run of this history failed so; see: troubleshoot history failures")
    return int(found[0][0])


def _failures(history: History, asked: Narrowed) -> Answer:
    """What fails most, and what it costs."""
    table, where, values = _counted("cause", asked)
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


def _new(history: History, asked: Narrowed) -> Answer:
    """Failures that were first seen since a day."""
    since = asked.since if asked.since is not None else _now(asked) - asked.days * SECONDS_A_DAY
    found = _failures(history, asked._replace(since=None, limit=10**9))
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


def _versions(history: History, asked: Narrowed) -> Answer:
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


def _hosts(history: History, asked: Narrowed) -> Answer:
    """Hosts that fail more often than the others."""
    return _places(history, "host", asked)


def _gpus(history: History, asked: Narrowed) -> Answer:
    """Models of GPUs that fail more often than the others."""
    return _places(history, "gpu", asked)


def _places(history: History, of: Literal["host", "gpu"], asked: Narrowed) -> Answer:
    counts = _counts(history, of, asked)
    counts.pop(0, None)  # runs of which the log names none
    names = dict(history.rows(f"SELECT id, name FROM {of}s"))
    all_runs, all_failed = sum(c[0] for c in counts.values()), sum(c[1] for c in counts.values())
    rows = []
    for place, (runs, failed, lost) in counts.items():
        compared = _compared(failed, runs, all_failed - failed, all_runs - runs)
        rows.append({of: names[place], **compared, "lost_gpu_hours": round(lost, 1), "number": place})
    answer = _judged("hosts" if of == "host" else "gpus", rows, asked, lambda row: row[of])
    for row in answer.rows:
        place = row.pop("number")
        row["most_often"] = _most_often(history, of, place, asked) if row["failed"] and asked.cause is None else None
    return answer


def _most_often(history: History, of: str, place: int, asked: Narrowed) -> str | None:
    """The failure that a host or a GPU has most often."""
    if of != "host":
        return None
    found = history.rows(
        "SELECT coalesce(c.entry, c.fingerprint) FROM (SELECT cause, count(*) AS runs FROM runs WHERE host = ? AND ended >= ? AND failed "
        "GROUP BY cause ORDER BY 2 DESC, 1 LIMIT 1) JOIN causes c ON c.id = cause",
        (place, int(asked.since or 0)),
    )
    return str(found[0][0]) if found else None


def _upgrade(history: History, asked: Narrowed) -> Answer:
    """After which changes a failure was first seen: what changed in each job between its last run without it and its first with it."""
    cause = cause_of(history, _needed(asked.cause, "upgrade", "--cause ID"))
    firsts = history.rows(
        "SELECT job, min(ended) FROM runs INDEXED BY runs_by_cause_and_time WHERE cause = ? GROUP BY job ORDER BY 2 LIMIT ?",
        (cause, MOST_JOBS),
    )
    changes: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    sets = _Sets(history)
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
        }
        if kind == "version" and (name, old) in rates and (name, new) in rates:
            (old_runs, old_failed), (new_runs, new_failed) = rates[name, old], rates[name, new]
            row |= {"share_before": old_failed / old_runs, "share_after": new_failed / new_runs}
            row["probability"] = fisher_greater(new_failed, new_runs, old_failed, old_runs)
        rows.append(row)
    tested = [row for row in rows if "probability" in row]
    for row, corrected in zip(tested, holm([row["probability"] for row in tested]), strict=True):
        row |= {"probability": corrected, "significant": corrected < LEVEL}
    for row in rows:
        for key in ("share_before", "share_after", "probability", "significant"):
            row.setdefault(key, None)
    rows.sort(
        key=lambda row: (
            -row["jobs"],
            row["probability"] if row["probability"] is not None else 1.0,
            row["kind"],
            row["name"],
        )
    )
    return Answer("upgrade", rows[: asked.limit], "fisher-holm", len(rows))


def _fix(history: History, asked: Narrowed) -> Answer:
    """Did a fix help: the share of runs that fail so, before a day and from it on."""
    name = _needed(asked.cause, "fix", "--cause ID")
    cause = cause_of(history, name)
    at = int(_needed(asked.at, "fix", "--at DATE") // SECONDS_A_DAY)
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


def _unknown(history: History, asked: Narrowed) -> Answer:
    """Which unknown failures grow: the last days against as many days before."""
    end = int(_now(asked) // SECONDS_A_DAY) + 1
    middle, first = end - asked.days, end - 2 * asked.days
    runs = dict(
        history.rows(
            "SELECT day >= ?, sum(runs) FROM daily_cause WHERE day >= ? AND day < ? GROUP BY 1", (middle, first, end)
        )
    )
    recent_runs, earlier_runs = runs.get(1) or 0, runs.get(0) or 0
    found = history.rows(
        "SELECT c.fingerprint, c.title, sum(CASE WHEN d.day >= :middle THEN d.failed ELSE 0 END), "
        "sum(CASE WHEN d.day < :middle THEN d.failed ELSE 0 END), sum(d.lost), c.id FROM daily_cause d JOIN causes c ON c.id = d.value "
        "WHERE c.entry IS NULL AND d.day >= :first AND d.day < :end GROUP BY c.id HAVING sum(d.failed) > 0",
        {"middle": middle, "first": first, "end": end},
    )
    rows = [
        {
            "cause": fingerprint, "title": title, "before": before, "recent": recent, "days": asked.days, "lost_gpu_hours": round(lost, 1),
            "probability": fisher_greater(recent, recent_runs, before, earlier_runs),
        }
        for fingerprint, title, recent, before, lost, _ in found
    ]  # fmt: skip
    for row, corrected in zip(rows, holm([row["probability"] for row in rows]), strict=True):
        row |= {"probability": corrected, "significant": corrected < LEVEL}
    rows.sort(key=lambda row: (row["probability"], row["before"] - row["recent"], row["cause"]))
    return Answer("unknown", rows[: asked.limit], "fisher-holm", len(rows))


def _runs(history: History, asked: Narrowed) -> Answer:
    """The last runs that fit."""
    rows, total = runs(history, asked)
    return Answer("runs", rows, total=total)


def runs(history: History, asked: Narrowed) -> tuple[list[Row], int]:
    """The last runs that fit, newest first, and how many are listed."""
    where, values = ["ended >= :since"], {"since": int(asked.since or 0), "limit": asked.limit}
    if asked.cause is not None:
        where.append("cause = :cause")
        values["cause"] = cause_of(history, asked.cause)
    for column, name in (("host", asked.host), ("job", asked.job)):
        if name is not None:
            found = history.rows(f"SELECT id FROM {column}s WHERE name = ?", (name,))
            if not found:
                raise UsageError(f"{name}: this history has no run of such a {column}")
            where.append(f"r.{column} = :{column}")
            values[column] = found[0][0]
    found = history.rows(
        "SELECT r.id, r.ended, j.name, h.name, coalesce(c.entry, c.fingerprint), c.title, r.lost, r.log, r.line FROM "
        f"(SELECT id FROM runs r WHERE {' AND '.join(where)} ORDER BY ended DESC LIMIT :limit) AS one JOIN runs r ON r.id = one.id "
        "JOIN jobs j ON j.id = r.job LEFT JOIN hosts h ON h.id = r.host LEFT JOIN causes c ON c.id = r.cause ORDER BY r.ended DESC",
        values,
    )
    keys = ("run", "ended", "job", "host", "cause", "title", "lost_gpu_hours", "log", "line")
    rows = [dict(zip(keys, (row[0], moment(row[1]), *row[2:]), strict=True)) for row in found]
    return rows, len(rows)


def run(history: History, number: int) -> Row | None:
    """All that the history keeps of one run; None where there is none."""
    found = history.rows(
        "SELECT r.id, r.ended, j.name, h.name, g.name, r.gpu_count, c.entry, c.fingerprint, c.title, c.kind, c.severity, c.retry, r.lost, "
        "r.log, r.line, r.environment, s.pairs FROM runs r JOIN jobs j ON j.id = r.job LEFT JOIN hosts h ON h.id = r.host LEFT JOIN gpus g "
        "ON g.id = r.gpu LEFT JOIN causes c ON c.id = r.cause LEFT JOIN settings s ON s.id = r.settings WHERE r.id = ?",
        (number,),
    )
    if not found:
        return None
    keys = (
        "run", "ended", "job", "host", "gpu", "gpu_count", "entry", "fingerprint", "title", "kind", "severity", "retry", "lost_gpu_hours",
        "log", "line", "environment", "settings",
    )  # fmt: skip
    row = dict(zip(keys, found[0], strict=True))
    row["ended"] = moment(row["ended"])
    sets = _Sets(history)
    row["versions"] = sets.versions(row.pop("environment"))
    row["settings"] = _pairs(row["settings"])
    return row


class _Sets:
    """Versions and settings by their number, each read once."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._versions: dict[int, dict[str, str]] = {}
        self._settings: dict[int, dict[str, str]] = {}

    def versions(self, environment: int | None) -> dict[str, str]:
        if environment is None:
            return {}
        if environment not in self._versions:
            rows = self._history.rows(
                "SELECT package, version FROM versions WHERE environment = ? ORDER BY package", (environment,)
            )
            self._versions[environment] = dict(rows)
        return self._versions[environment]

    def settings(self, number: int | None) -> dict[str, str]:
        if number is None:
            return {}
        if number not in self._settings:
            self._settings[number] = _pairs(
                self._history.rows("SELECT pairs FROM settings WHERE id = ?", (number,))[0][0]
            )
        return self._settings[number]

    def changes(self, before: tuple[Any, ...], after: tuple[Any, ...]) -> Iterable[tuple[str, str, str, str]]:
        """What differs between two runs of which both tell it: kind, name, before, after."""
        for kind, read, old, new in (
            ("version", self.versions, before[0], after[0]),
            ("setting", self.settings, before[1], after[1]),
        ):
            if old != new and old is not None and new is not None:
                olds, news = read(old), read(new)
                yield from (
                    (kind, name, olds[name], news[name])
                    for name in sorted(olds.keys() & news.keys())
                    if olds[name] != news[name]
                )
        for kind, old, new in (("host", before[2], after[2]), ("gpu", before[3], after[3])):
            if old != new and old is not None and new is not None:
                names = dict(self._history.rows(f"SELECT id, name FROM {kind}s WHERE id IN (?, ?)", (old, new)))
                yield kind, kind, names[old], names[new]


def _pairs(text: str | None) -> dict[str, str]:
    import json

    return dict(json.loads(text)) if text else {}


def _version_rates(history: History, cause: int) -> dict[tuple[str, str], tuple[int, int]]:
    """By package and version: runs, and failures of the cause."""
    counts = dict(history.rows("SELECT value, runs FROM total_environment"))
    failed = dict(history.rows("SELECT environment, count(*) FROM runs WHERE cause = ? GROUP BY environment", (cause,)))
    out: dict[tuple[str, str], tuple[int, int]] = {}
    for environment, package, version in history.rows("SELECT environment, package, version FROM versions"):
        runs, bad = out.get((package, version), (0, 0))
        out[package, version] = runs + counts.get(environment, 0), bad + failed.get(environment, 0)
    return {key: value for key, value in out.items() if value[0]}


def _counts(history: History, of: str, asked: Narrowed) -> dict[int, tuple[int, int, float]]:
    """By value of a column: runs, failures (of the cause that is asked for), lost GPU hours of these failures."""
    table, where, values = _counted(of, asked)
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
    """A group against all others."""
    few = runs < MIN_RUNS or other_runs < MIN_RUNS
    return {
        "runs": runs, "failed": failed, "share": failed / runs, "share_of_others": other_failed / other_runs if other_runs else None,
        "probability": None if few else fisher_greater(failed, runs, other_failed, other_runs),
    }  # fmt: skip


def _judged(question: Question, rows: list[Row], asked: Narrowed, name: Callable[[Row], Any]) -> Answer:
    """The rows with probabilities that are corrected for their number, the most striking first."""
    tested = [row for row in rows if row["probability"] is not None]
    for row, corrected in zip(tested, holm([row["probability"] for row in tested]), strict=True):
        row["probability"] = corrected
    for row in rows:
        row["significant"] = row["probability"] is not None and row["probability"] < LEVEL
    rows.sort(
        key=lambda row: (
            1.0 if row["probability"] is None else row["probability"],
            -row["share"],
            -row["runs"],
            name(row),
        )
    )
    return Answer(question, rows[: asked.limit], "fisher-holm", len(rows))


def _interval(failed: int, runs: int) -> list[float] | None:
    return [round(end, 4) for end in wilson(failed, runs)] if runs else None


def _counted(of: str, asked: Narrowed) -> tuple[str, str, tuple[int, ...]]:
    """The summary table of a column that answers fastest, the condition on its rows, and the condition's values."""
    if asked.since is None:
        return f"total_{of}", "", ()
    return f"daily_{of}", "WHERE day >= ?", (int(asked.since // SECONDS_A_DAY),)


def _now(asked: Narrowed) -> float:
    return asked.now if asked.now is not None else time.time()


def _needed(value: Any, question: str, option: str) -> Any:
    if value is None:
        raise UsageError(f"history {question}: needs {option}")
    return value


_ANSWERS: Mapping[Question, Callable[[History, Narrowed], Answer]] = {
    "failures": _failures, "new": _new, "versions": _versions, "hosts": _hosts, "gpus": _gpus, "upgrade": _upgrade, "fix": _fix,
    "unknown": _unknown, "runs": _runs,
}  # fmt: skip
