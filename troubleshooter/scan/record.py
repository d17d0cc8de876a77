"""The record of a scan: JSON Lines, one row a job, appended as jobs are done; several records merge by concatenation.

It survives ``kill -9``: a row that was cut is dropped, and its job is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from troubleshooter.masking import mask_run
from troubleshooter.paths import below_site_packages
from troubleshooter.read.text import fold
from troubleshooter.report.model import Report
from troubleshooter.scan.jobs import Job

SCHEMA_VERSION = 1
MAX_ROW_BYTES = 16 * 1024 * 1024
"""A longer line of a record is passed over unread."""
MAX_MESSAGE_CHARACTERS = 300
_BLOCK_BYTES = 64 * 1024
_START = b'{"schema_version": '
_FIRST_TIME, _LAST_TIME = -62_135_596_800, 253_402_300_799  # the years 1 to 9999


class Cause(NamedTuple):
    """What a job's failure (or harmless output) is: an entry, or an exception that no entry knows (``id`` is None then)."""

    fingerprint: str
    id: str | None
    title: str
    harmless: bool
    line: int


class Row(NamedTuple):
    """What a record says about a job. Without ``error`` and ``cause`` it is healthy."""

    job: str
    file: str
    """The first of the job's files."""
    stamp: str
    modified: float
    error: str | None
    cause: Cause | None


class Rows(NamedTuple):
    """The rows of records by job; the last row of a job counts."""

    by_job: dict[str, Row]
    passed_over: int = 0
    """Lines that are no row."""
    newer: int = 0
    """Rows of a newer version of the form, which this version cannot read."""

    def with_(self, other: Rows) -> Rows:
        """These rows and later ones."""
        return Rows(self.by_job | other.by_job, self.passed_over + other.passed_over, self.newer + other.newer)


def masked(message: str) -> str:
    """A message without what differs from run to run: numbers, addresses, paths, ids."""
    return mask_run(fold(message))[:MAX_MESSAGE_CHARACTERS]


def fingerprint(*parts: str) -> str:
    """A short name that stays the same for the same root cause."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=6).hexdigest()


def line_of(job: Job, outcome: dict[str, Any]) -> bytes:
    """The row of a job, as one line of a record. ``outcome`` comes from `outcome` or `failed`."""
    row = {
        "schema_version": SCHEMA_VERSION, "job": job.name, "files": list(job.files), "stamp": job.stamp,
        "modified": job.modified, **outcome,
    }  # fmt: skip
    return json.dumps(row).encode() + b"\n"


def failed(reason: str) -> dict[str, Any]:
    """The outcome of a job that could not be read."""
    return {"status": 2, "error": reason}


def outcome(report: Report) -> dict[str, Any]:
    """What a job's report says, as a record keeps it."""
    found = next(
        (d for d in report.diagnoses if d.kind == "failure"), report.diagnoses[0] if report.diagnoses else None
    )
    out: dict[str, Any] = {"status": report.exit_code, "lines": report.input["lines"]}
    if found is not None:
        out["diagnosis"] = {
            "id": found.id, "kind": found.kind, "title": found.title, "confidence": found.confidence,
            "fingerprint": fingerprint(found.id), "line": found.evidence[0].line if found.evidence else None,
        }  # fmt: skip
    elif report.unexplained is not None:
        unknown = report.unexplained
        frames = next((f.frames for f in report.failures if f.line == unknown["line"]), [])
        last = frames[-1] if frames else {"file": "", "function": ""}
        place = f"{below_site_packages(str(last['file']).replace(chr(92), '/'))} {last['function']}"
        message = masked(unknown["message"])
        out["unknown"] = {
            "exception": unknown["exception"], "message": message, "line": unknown["line"],
            "fingerprint": fingerprint(unknown["exception"], message, place),
        }  # fmt: skip
    elif report.stopped is not None:
        where = next((f"{at['file']} {at['function']}" for at in report.stopped["at"]), "")
        out["unknown"] = {
            "exception": "KeyboardInterrupt", "message": masked(where), "line": report.stopped["line"],
            "fingerprint": fingerprint("KeyboardInterrupt", where),
        }  # fmt: skip
    return out


def read(paths: Iterable[Path]) -> Rows:
    """The rows of several records. Raises OSError where one cannot be read."""
    found = Rows({})
    for path in paths:
        with path.open("rb") as file:
            found = found.with_(rows(_lines(file)))
    return found


def under_new_ids(rows: Rows, resolve: Callable[[str], str]) -> Rows:
    """The rows with the ids that entries have today; ``resolve`` gives the id of today for one that was recorded."""
    by_job = dict(rows.by_job)
    for name, row in rows.by_job.items():
        if row.cause is not None and row.cause.id is not None and (id_ := resolve(row.cause.id)) != row.cause.id:
            by_job[name] = row._replace(cause=row.cause._replace(id=id_, fingerprint=fingerprint(id_)))
    return rows._replace(by_job=by_job)


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    """The lines of a record; for one that is too long, what it begins with."""
    while line := file.readline(MAX_ROW_BYTES):
        yield line
        while len(line) == MAX_ROW_BYTES and not line.endswith(b"\n"):
            line = file.readline(MAX_ROW_BYTES)


def rows(lines: Iterable[bytes]) -> Rows:
    """The rows that lines of a record hold; a line that was cut or changed is counted and passed over."""
    found: dict[str, Row] = {}
    passed_over = newer = 0
    for line in lines:
        if not line.strip():
            continue
        try:
            given = json.loads(line)
        except (ValueError, RecursionError):
            given = None
        version = given.get("schema_version") if isinstance(given, dict) else None
        if type(version) is int and version > SCHEMA_VERSION:
            newer += 1
        elif type(version) is int and version == SCHEMA_VERSION and (row := _row(given)) is not None:
            found[row.job] = row
        else:
            passed_over += 1
    return Rows(found, passed_over, newer)


def _row(given: dict[str, Any]) -> Row | None:
    """The row that a line of this version tells; None where a part of it is missing or of another type."""
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
    return Row(job, files[0], stamp, float(modified), error, cause)


def _diagnosis(given: Any) -> Cause | None:
    said = _texts(given, "fingerprint", "id", "title", "kind")
    if said is None or said[3] not in ("failure", "harmless"):
        return None
    return Cause(said[0], said[1], said[2], said[3] == "harmless", given["line"] or 1)


def _unknown(given: Any) -> Cause | None:
    said = _texts(given, "fingerprint", "exception", "message")
    if said is None:
        return None
    return Cause(said[0], None, sys.intern(f"{said[1]}: {said[2]}"), False, given["line"] or 1)


def _texts(given: Any, *keys: str) -> tuple[str, ...] | None:
    """The texts under these keys, each kept once for all rows; None where one is missing, or the number of a line."""
    if not isinstance(given, dict) or not all(isinstance(given.get(key), str) for key in keys):
        return None
    if "line" not in given or type(given["line"]) not in (int, type(None)):
        return None
    return tuple(sys.intern(given[key]) for key in keys)


def drop_cut_row(path: Path) -> None:
    """Make the record end with a whole line: a row that was not written whole is cut off. A last line that is no row of
    ours (the file may not be a record at all) is kept and ended."""
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
