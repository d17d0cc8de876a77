"""The record of a scan: JSON Lines with one row for each job, appended as jobs are done. Records merge by concatenation.

A record survives ``kill -9``: a row that was only half written is dropped, and its job is done again.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from troubleshooter.outcome import fingerprint
from troubleshooter.scan.job_list import Job
from troubleshooter.scan.table import TemporaryTable, packed

SCHEMA_VERSION = 1
MAX_ROW_BYTES = 16 * 1024 * 1024
"""A line of a record that is longer than this is skipped without being parsed."""
_BLOCK_BYTES = 64 * 1024
_START = b'{"schema_version": '
_FIRST_TIME, _LAST_TIME = -62_135_596_800, 253_402_300_799  # the years 1 to 9999


class Cause(NamedTuple):
    """Why a job failed, or which harmless message it printed: an entry, or an exception that no entry knows."""

    fingerprint: str
    id: str | None
    """The entry's id; None if no entry knows the failure."""
    title: str
    harmless: bool
    line: int


class Row(NamedTuple):
    """What a record says about a job. A job without ``error`` and ``cause`` is healthy."""

    job: str
    file: str
    """The first of the job's files."""
    stamp: str
    modified: float
    error: str | None
    cause: Cause | None
    file_count: int = 1
    again: bool = False
    """Whether the job could not be read for the time being: the next scan tries it again."""


class Rows:
    """Rows of one or more records, read in the order of their jobs. If a job has several rows, the last one counts."""

    def __init__(self) -> None:
        self.passed_over = 0
        """How many lines were skipped because they are not a valid row."""
        self.newer = 0
        """How many rows have a newer schema version, which this version cannot read."""
        self._table = TemporaryTable("job PRIMARY KEY, row")

    def add(self, lines: Iterable[bytes]) -> None:
        """Read lines of a record. A line that was cut or changed is counted and skipped."""
        self._table.add(((packed(row.job), pickle.dumps(row)) for row in self._parsed(lines)), 2)

    def get(self, job: str) -> Row | None:
        """The row of a job, if it has one."""
        return next(
            (_opened(row) for (row,) in self._table.ask("SELECT row FROM kept WHERE job = ?", packed(job))), None
        )

    def __bool__(self) -> bool:
        return any(self._table.ask("SELECT 1 FROM kept LIMIT 1"))

    def __iter__(self) -> Iterator[Row]:
        return (_opened(row) for (row,) in self._table.ask("SELECT row FROM kept ORDER BY job"))

    def _parsed(self, lines: Iterable[bytes]) -> Iterator[Row]:
        for line in lines:
            if not line.strip():
                continue
            try:
                given = json.loads(line)
            except (ValueError, RecursionError):
                given = None
            version = given.get("schema_version") if isinstance(given, dict) else None
            if type(version) is int and version > SCHEMA_VERSION:
                self.newer += 1
            elif type(version) is int and version == SCHEMA_VERSION and (row := _row(given)) is not None:
                yield row
            else:
                self.passed_over += 1


def _opened(stored: bytes) -> Row:
    row: Row = pickle.loads(stored)  # written by this process
    return row


def line_of(job: Job, outcome: dict[str, Any]) -> bytes:
    """Write a job's row as one line of a record. ``outcome`` is the result of `troubleshooter.outcome` or `failed`."""
    row = {
        "schema_version": SCHEMA_VERSION, "job": job.name, "files": list(job.files), "stamp": job.stamp,
        "modified": job.modified, **outcome,
    }  # fmt: skip
    return json.dumps(row).encode() + b"\n"


def failed(reason: str, again: bool = False) -> dict[str, Any]:
    """The outcome of a job that could not be read. ``again``: it may be readable later, so the next scan tries it."""
    return {"status": 2, "error": reason, **({"again": True} if again else {})}


def read(paths: Iterable[Path]) -> Rows:
    """Read the rows of several records. Raises OSError if one cannot be read."""
    found = Rows()
    for path in paths:
        with path.open("rb") as file:
            found.add(_lines(file))
    return found


def under_new_ids(rows: Iterable[Row], resolve: Callable[[str], str]) -> Iterator[Row]:
    """The rows with today's ids for renamed entries; ``resolve`` turns a recorded id into the id that it has today."""
    for row in rows:
        if row.cause is not None and row.cause.id is not None and (id_ := resolve(row.cause.id)) != row.cause.id:
            yield row._replace(cause=row.cause._replace(id=id_, fingerprint=fingerprint(id_)))
        else:
            yield row


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a record. Of a line that is too long only the beginning is returned."""
    while line := file.readline(MAX_ROW_BYTES):
        yield line
        while len(line) == MAX_ROW_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_ROW_BYTES)


def _row(given: dict[str, Any]) -> Row | None:
    """The row of a parsed line; None if a field is missing or has the wrong type."""
    job, files, stamp, modified = (given.get(key) for key in ("job", "files", "stamp", "modified"))
    error = given.get("error")
    if not (isinstance(job, str) and isinstance(stamp, str) and isinstance(error, str | None)):
        return None
    if not (isinstance(files, list) and files and all(isinstance(file, str) for file in files)):
        return None
    if not isinstance(modified, (int, float)) or not _FIRST_TIME <= modified <= _LAST_TIME:
        return None
    cause = None
    if "diagnosis" in given or "unknown" in given:
        cause = _diagnosis(given["diagnosis"]) if "diagnosis" in given else _unknown(given["unknown"])
        if cause is None:
            return None
    return Row(job, files[0], stamp, float(modified), error, cause, len(files), given.get("again") is True)


def _diagnosis(given: Any) -> Cause | None:
    said = _texts(given, "fingerprint", "id", "title", "kind")
    if said is None or said[3] not in ("failure", "harmless"):
        return None
    return Cause(said[0], said[1], said[2], said[3] == "harmless", given["line"] or 1)


def _unknown(given: Any) -> Cause | None:
    said = _texts(given, "fingerprint", "exception", "message")
    if said is None:
        return None
    return Cause(said[0], None, f"{said[1]}: {said[2]}", False, given["line"] or 1)


def _texts(given: Any, *keys: str) -> tuple[str, ...] | None:
    """The texts under these keys; None if one of them or the line number is missing or of the wrong type."""
    if not isinstance(given, dict) or not all(isinstance(given.get(key), str) for key in keys):
        return None
    if "line" not in given or type(given["line"]) not in (int, type(None)):
        return None
    return tuple(given[key] for key in keys)


def drop_cut_row(path: Path) -> None:
    """Make the record end with a complete line. A half-written row at the end is removed. A last line that is not the
    beginning of a row (the file may not be a record at all) is kept, and a line end is added."""
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        start, tail = end, b""
        while start and b"\n" not in tail:
            step = min(_BLOCK_BYTES, start)
            start -= step
            file.seek(start)
            tail = file.read(step) + tail
        cut = tail.rpartition(b"\n")[2]
        if cut.startswith(_START) or _START.startswith(cut):
            file.truncate(end - len(cut))
        else:
            file.seek(end)
            file.write(b"\n")
