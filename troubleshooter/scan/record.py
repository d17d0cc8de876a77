"""The record of a scan: JSON Lines, one a job, appended as jobs are done; several records merge by concatenation.

It survives `kill -9`: a line that was cut is dropped, and its job is done again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from troubleshooter.read.text import fold
from troubleshooter.report.model import Report

SCHEMA_VERSION = 1
_VOLATILE = re.compile(
    r"0x[0-9a-fA-F]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|(?:/[\w.@+-]+){2,}/?|[A-Za-z]:\\\S+|\d+(?:\.\d+)*|"
    r"\b[0-9a-f]{12,}\b"
)
_INSTALLED = re.compile(r"^.*/(?:site|dist)-packages/")


def masked(message: str) -> str:
    """A message without what differs from run to run: numbers, addresses, paths, ids."""
    return _VOLATILE.sub("#", fold(message))[:300]


def fingerprint(*parts: str) -> str:
    """A short name that stays the same for the same root cause."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=6).hexdigest()


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
        place = f"{_INSTALLED.sub('', str(last['file']).replace(chr(92), '/'))} {last['function']}"
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


def read(paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Records by job name, the last one counts. A cut or foreign line is passed over."""
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        with path.open("rb") as file:
            found |= rows(file)
    return found


def rows(lines: Iterable[bytes]) -> dict[str, dict[str, Any]]:
    """What the lines of a record say, by job name."""
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and row.get("schema_version") == SCHEMA_VERSION and "job" in row:
            found[row["job"]] = row
    return found


def mend(path: Path) -> None:
    """Cut off a last line that was not written whole."""
    with path.open("r+b") as file:
        data = file.read()
        if data and not data.endswith(b"\n"):
            file.truncate(data.rfind(b"\n") + 1)
