"""What a watch has seen, told and still has to tell: one SQLite file, so that a kill at any moment loses and doubles nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kb.errors import TroubleshootError
from troubleshooter.scan.job_list import Job
from troubleshooter.scan.lock import InUse

VERSION = 1
_TABLES = """
CREATE TABLE seen (job TEXT PRIMARY KEY, stamp TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE told (job TEXT, cause TEXT, PRIMARY KEY (job, cause)) WITHOUT ROWID;
CREATE TABLE queue (number INTEGER PRIMARY KEY, sink TEXT NOT NULL, event TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0,
                    not_before REAL NOT NULL DEFAULT 0);
"""


class StateProblem(TroubleshootError):
    """A state file that cannot be used: one sentence with the next step."""


class Queued(NamedTuple):
    """An event that a sink has not taken yet. ``not_before``: when it is tried next, in seconds since 1970."""

    number: int
    event: dict[str, Any]
    tries: int
    not_before: float


class WatchState:
    """The state file at ``path``, held by this process until it is closed.

    Raises `InUse` where another watch holds it, `StateProblem` where it is newer, no state of ours, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._told():
            self._base = sqlite3.connect(path, timeout=0.0, isolation_level=None)
            self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
            self._base.execute("PRAGMA synchronous = FULL")
            self._base.execute("BEGIN EXCLUSIVE")
            (version,) = self._base.execute("PRAGMA user_version").fetchone()
            if version > VERSION:
                raise StateProblem(
                    f"{path}: written by a newer troubleshoot; upgrade, or name another file with --state"
                )
            self.is_new = version == 0
            """Whether no watch has used the file before."""
            if self.is_new:
                for statement in _TABLES.split(";"):
                    self._base.execute(statement)
                self._base.execute(f"PRAGMA user_version = {VERSION}")
            self._base.execute("COMMIT")

    def close(self) -> None:
        self._base.close()

    def stamp(self, job: str) -> str | None:
        """The stamp that a job had when it was last diagnosed; None where it never was."""
        with self._told():
            row = self._base.execute("SELECT stamp FROM seen WHERE job = ?", (_stored(job),)).fetchone()
        return row[0] if row else None

    def take(self, job: Job, event: dict[str, Any] | None, sinks: tuple[str, ...]) -> bool:
        """Note that a job was diagnosed, and queue the failure for the sinks unless it was told already; whether it is queued.

        A log that became shorter was written anew: what was told of it before does not count.
        """
        name = _stored(job.name)
        with self._transaction():
            row = self._base.execute("SELECT stamp FROM seen WHERE job = ?", (name,)).fetchone()
            if row is not None and _size(job.stamp) < _size(row[0]):
                self._base.execute("DELETE FROM told WHERE job = ?", (name,))
            self._base.execute("INSERT OR REPLACE INTO seen VALUES (?, ?)", (name, job.stamp))
            if event is None:
                return False
            told = self._base.execute("INSERT OR IGNORE INTO told VALUES (?, ?)", (name, event["fingerprint"]))
            if not told.rowcount:
                return False
            for sink in sinks:
                self._base.execute("INSERT INTO queue (sink, event) VALUES (?, ?)", (sink, json.dumps(event)))
        return True

    def note(self, jobs: Iterable[Job]) -> None:
        """Note that these jobs were seen, without a diagnosis."""
        with self._transaction():
            rows = [(_stored(job.name), job.stamp) for job in jobs]
            self._base.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?)", rows)

    def first(self, sink: str) -> Queued | None:
        """The event that a sink has to take next."""
        with self._told():
            row = self._base.execute(
                "SELECT number, event, tries, not_before FROM queue WHERE sink = ? ORDER BY number LIMIT 1", (sink,)
            ).fetchone()
        return Queued(row[0], json.loads(row[1]), row[2], row[3]) if row else None

    def taken(self, number: int) -> None:
        """Take an event out of the queue."""
        with self._told():
            self._base.execute("DELETE FROM queue WHERE number = ?", (number,))

    def later(self, number: int, not_before: float) -> None:
        """Note that a sink could not take an event, and when to try again."""
        with self._told():
            self._base.execute(
                "UPDATE queue SET tries = tries + 1, not_before = ? WHERE number = ?", (not_before, number)
            )

    def waiting(self, sink: str) -> int:
        """How many events a sink has not taken."""
        with self._told():
            (count,) = self._base.execute("SELECT count(*) FROM queue WHERE sink = ?", (sink,)).fetchone()
        return int(count)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._told():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._base.execute("ROLLBACK")
                raise
            self._base.execute("COMMIT")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite raises into a sentence."""
        try:
            yield
        except sqlite3.Error as error:
            if "locked" in str(error):
                raise InUse(
                    f"{self._path}: another watch uses it; end that one, or name another file with --state"
                ) from error
            if "not a database" in str(error) or "no such table" in str(error):
                raise StateProblem(f"{self._path}: is no state of a watch; name another file with --state") from error
            raise StateProblem(
                f"{self._path}: cannot be used: {error}; what was told so far is kept: the same command goes on"
            ) from error


def _stored(name: str) -> str:
    """A name as SQLite takes it: bytes that are no UTF-8 stay apart from each other."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _size(stamp: str) -> int:
    """The bytes of all files that a stamp tells."""
    return sum(int(part.split(":")[0]) for part in stamp.split(";") if part.split(":")[0].isdigit())
