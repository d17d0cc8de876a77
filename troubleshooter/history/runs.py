"""The runs of a history: the last ones that fit, all that is kept of one, and what changed between two."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from kb.errors import UsageError
from troubleshooter.history.asking import Answer, Narrowed, Row, moment
from troubleshooter.history.counting import cause_of
from troubleshooter.history.store import History


def last_runs(history: History, asked: Narrowed) -> Answer:
    """The runs that fit, newest first."""
    where, values = ["ended >= :since"], {"since": int(asked.since or 0), "limit": asked.limit}
    if asked.cause is not None:
        where.append("cause = :cause")
        values["cause"] = cause_of(history, asked.cause)
    for column, name in (("host", asked.host), ("job", asked.job)):
        if name is not None:
            found = history.rows(f"SELECT id FROM {column}s WHERE name = ?", (name,))
            if not found:
                raise UsageError(f"{name}: this history has no run of a {column} with this name")
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
    [(total,)] = history.rows(f"SELECT count(*) FROM runs r WHERE {' AND '.join(where)}", values)
    return Answer("runs", rows, total=total)


def run(history: History, number: int) -> Row | None:
    """All that the history keeps of one run; ``None`` if there is no such run."""
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
    sets = RunSets(history)
    row["versions"] = sets.versions(row.pop("environment"))
    row["settings"] = _pairs(row["settings"])
    return row


class RunSets:
    """The versions and settings of runs. Many runs share a set; each is read once."""

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
        """Differences between two runs, where both runs name the value: its kind, its name, the value before and after."""
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
    return dict(json.loads(text)) if text else {}
