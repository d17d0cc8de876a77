"""The file of a history: opened, brought to the version of today, written by several processes at once.

It is in SQLite's write-ahead mode: readers never wait, writers wait for each other (`WAIT_SECONDS`). A run that `History.add` has
returned for is kept whatever happens to the process; after a loss of power the last ones may be missing.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from kb.errors import TroubleshootError
from troubleshooter.history.run_record import RunCause, RunRecord
from troubleshooter.history.schema import APPLICATION_ID, MIGRATIONS, VERSION

WAIT_SECONDS = 30.0
"""How long a writer waits for the others."""
SECONDS_A_DAY = 86_400
_MAGIC = b"SQLite format 3\0"
_STEP_SECONDS = 0.05


class HistoryError(TroubleshootError):
    """A history that cannot be used: one sentence with the file and the next step."""


class NotNow(HistoryError):
    """The history cannot be used for now: the disk is full, or another process holds it locked."""


_PASSING = ("full", "disk i/o", "locked", "busy")


class History:
    """An open history. Use it as a context, in one thread.

    ``create``: make the file where there is none. Raises `HistoryError` where it cannot be used.
    """

    def __init__(self, path: Path, *, create: bool = True, wait_s: float = WAIT_SECONDS) -> None:
        self.path = path
        self._wait_s = wait_s
        self._known: dict[tuple[str, str], int] = {}
        if not create and not path.exists():
            raise HistoryError(f"{path}: no such history; record one: troubleshoot LOG --history {path}")
        if not _may_be_database(path):
            raise HistoryError(f"{path}: no history; name another file")
        with self._told():
            self._db = sqlite3.connect(path, timeout=wait_s, isolation_level=None)
            try:
                self._prepare()
            except BaseException:
                self._db.close()
                raise

    def __enter__(self) -> History:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def add(self, runs: Iterable[RunRecord]) -> int:
        """Keep runs, all of them or (where this raises) none; how many were not kept before. Raises `HistoryError`."""
        new = 0
        with self._told(), self._transaction():
            for run in runs:
                new += self._put(run)
        return new

    def rows(self, query: str, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query. Raises `HistoryError`."""
        with self._told():
            return self._db.execute(query, values).fetchall()

    def check(self) -> str:
        """What SQLite says of the file's integrity: ``ok``, or what is damaged."""
        return str(self.rows("PRAGMA integrity_check")[0][0])

    def _prepare(self) -> None:
        version = self._version()
        if version > VERSION:
            raise HistoryError(
                f"{self.path}: a newer troubleshoot wrote this history (version {version}, this one reads up to {VERSION}); "
                "upgrade troubleshoot, or name another file"
            )
        self._write_ahead()
        self._db.execute("PRAGMA synchronous = NORMAL")
        if version < VERSION:
            with self._transaction():
                for statements in MIGRATIONS[self._version() :]:  # another process may have been faster
                    for statement in _statements(statements):
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA user_version = {VERSION}")
                self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def _version(self) -> int:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (application,) = self._db.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID and self._db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
            raise HistoryError(f"{self.path}: a database of another program, no history; name another file")
        return int(version)

    def _write_ahead(self) -> None:
        """Set the mode, which the file then keeps. SQLite itself does not wait for others here."""
        deadline = time.monotonic() + self._wait_s
        while self._db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return  # a file system that cannot have it keeps another mode, which works, too
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(_STEP_SECONDS)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            self._known.clear()
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of SQLite as a sentence each."""
        try:
            yield
        except sqlite3.Error as error:
            kind = NotNow if any(word in str(error).lower() for word in _PASSING) else HistoryError
            raise kind(f"{self.path}: {_sentence(str(error), self._wait_s)}") from error

    def _put(self, run: RunRecord) -> int:
        """Keep one run; 1 where it is new."""
        key = hashlib.blake2b(run.log.encode("utf-8", "replace"), digest_size=12).digest()
        found = self._db.execute(
            "SELECT id, stamp, bytes, head FROM runs WHERE key = ? ORDER BY id DESC", (key,)
        ).fetchall()
        if any(stamp == run.stamp for _, stamp, _, _ in found):
            return 0
        values = self._values(run, key)
        if found and found[0][2] < run.bytes and run.head.startswith(found[0][3]):  # the log has grown
            changed = ", ".join(f"{name} = :{name}" for name in values)
            self._db.execute(f"UPDATE runs SET {changed} WHERE id = :id", {**values, "id": found[0][0]})
            return 0
        names = ", ".join(values)
        self._db.execute(f"INSERT INTO runs ({names}) VALUES ({', '.join(f':{name}' for name in values)})", values)
        return 1

    def _values(self, run: RunRecord, key: bytes) -> dict[str, object]:
        ended = int(run.ended)
        return {
            "key": key, "ended": ended, "day": ended // SECONDS_A_DAY, "status": run.status,
            "failed": int(run.cause is not None and run.cause.kind != "harmless"),
            "cause": self._cause(run.cause) if run.cause is not None else None,
            "job": self._id("jobs", "name", run.job),
            "host": self._id("hosts", "name", run.host) if run.host else None,
            "gpu": self._id("gpus", "name", run.gpu) if run.gpu else None,
            "gpu_count": run.gpu_count,
            "environment": self._environment(run.versions) if run.versions else None,
            "settings": self._settings(run.settings) if run.settings else None,
            "lost": run.lost or 0.0, "bytes": run.bytes, "head": run.head, "stamp": run.stamp, "log": run.log, "line": run.line,
        }  # fmt: skip

    def _id(self, table: str, column: str, value: str, **others: str | None) -> int:
        """The number of a row that is made where there is none."""
        if (known := self._known.get((table, value))) is not None:
            return known
        found = self._db.execute(f"SELECT id FROM {table} WHERE {column} = ?", (value,)).fetchone()
        if found is None:
            columns = ", ".join([column, *others])
            marks = ", ".join("?" * (1 + len(others)))
            made = self._db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", (value, *others.values()))
            found = (made.lastrowid,)
        self._known[table, value] = found[0]
        return int(found[0])

    def _cause(self, cause: RunCause) -> int:
        return self._id(
            "causes", "fingerprint", cause.fingerprint, entry=cause.entry, title=cause.title, kind=cause.kind,
            severity=cause.severity, retry=cause.retry,
        )  # fmt: skip

    def _settings(self, settings: Mapping[str, str]) -> int:
        pairs = json.dumps(dict(sorted(settings.items())))
        return self._id("settings", "digest", _digest(pairs), pairs=pairs)

    def _environment(self, versions: Mapping[str, str]) -> int:
        digest = _digest(json.dumps(dict(sorted(versions.items()))))
        if (known := self._known.get(("environments", digest))) is not None:
            return known
        number = self._id("environments", "digest", digest)
        self._db.executemany(
            "INSERT OR IGNORE INTO versions (environment, package, version) VALUES (?, ?, ?)",
            [(number, package, version) for package, version in versions.items()],
        )
        return number


def _may_be_database(path: Path) -> bool:
    """Whether SQLite would not overwrite something else: it takes a short file of any content for an empty one."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) in (b"", _MAGIC)
    except FileNotFoundError:
        return True
    except OSError as error:
        raise HistoryError(f"{path}: cannot be read: {error.strerror}; name another file") from error


def _statements(text: str) -> Iterator[str]:
    """The statements of a script, one by one: `sqlite3.executescript` would end the transaction."""
    part = ""
    for line in text.splitlines(keepends=True):
        part += line
        if sqlite3.complete_statement(part):
            yield part
            part = ""


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _sentence(said: str, wait_s: float) -> str:
    """What an error of SQLite means, and what to do."""
    low = said.lower()
    if "locked" in low or "busy" in low:
        return f"another process has held this history locked for {wait_s:g} s; try again when it has ended"
    if "full" in low:
        return "the disk is full, the run was not recorded; make room and run the same command again"
    if "readonly" in low or "read-only" in low:
        return "this history cannot be written (read-only); name another file"
    if "not a database" in low or "malformed" in low or "encrypted" in low:
        return f"no history, or a damaged one ({said}); name another file"
    if "unable to open" in low:
        return "cannot be opened; name a file in a folder that exists and that you may write to"
    if "disk i/o" in low:
        return f"cannot be read or written ({said}); is the disk full or gone?"
    return f"cannot be used: {said}"
