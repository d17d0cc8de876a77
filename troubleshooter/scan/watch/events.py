"""A failure as it is told: one JSON object, the same for a file and for a webhook. docs/integrations.md lists its keys."""

from __future__ import annotations

import json
import platform
from datetime import datetime, timezone
from typing import Any

from kb.text.catalog import Section
from troubleshooter.outcome import fingerprint
from troubleshooter.printable import printable
from troubleshooter.redact import redact
from troubleshooter.scan.job_list import Job

SCHEMA_VERSION = 1
MAX_TEXT_CHARACTERS = 500
_say = Section("watch")
_STEERING = str.maketrans({"<": "‹", ">": "›", "@": "＠", "`": "'", "*": "∗"})
"""Characters by which chat tools mention people, link and format: a log must not do so."""


def event_of(job: Job, row: bytes, lang: str) -> dict[str, Any] | None:
    """The failure in a job's row of the record; None if it has none, or if its user stopped the run."""
    given = json.loads(row)
    failure = given.get("diagnosis") or given.get("unknown")
    retry = given.get("retry")
    if failure is None or failure.get("kind") == "harmless" or (retry or {}).get("reason") == "stopped-by-user":
        return None
    known = "diagnosis" in given
    title = redact(failure["title"] if known else f"{failure['exception']}: {failure['message']}")
    line = failure["line"]
    where = f"{job.files[0]}:{line}" if line else job.files[0]
    text = _say(
        "known" if known else "unknown", lang, where=printable(where), title=printable(title), id=failure.get("id", "")
    )
    now = datetime.now(timezone.utc)
    event = {
        "schema_version": SCHEMA_VERSION,
        "id": fingerprint(job.name, failure["fingerprint"], now.isoformat()),
        "text": text[:MAX_TEXT_CHARACTERS].translate(_STEERING),
        "time": now.isoformat(timespec="seconds"),
        "host": platform.node(),
        "job": printable(job.name),
        "file": printable(job.files[0]),
        "line": line,
        "known": known,
        "entry": failure.get("id"),
        "title": printable(title),
        "confidence": failure.get("confidence"),
        "fingerprint": failure["fingerprint"],
    }
    return event if retry is None else {**event, "retry": retry}
