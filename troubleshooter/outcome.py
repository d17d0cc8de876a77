"""What a report comes to, in a few words that many runs can be counted by: the entry, or the fingerprint of an unknown failure.

The record of a scan and the history keep it. A fingerprint must stay the same over versions of this program: a change of what goes into
one makes every unknown failure look new (tests/test_fingerprint.py holds frozen ones).
"""

from __future__ import annotations

import hashlib
from typing import Any

from troubleshooter.masking import mask_run
from troubleshooter.paths import below_site_packages
from troubleshooter.read.text import fold
from troubleshooter.report.model import Report

MAX_MESSAGE_CHARACTERS = 300


def masked(message: str) -> str:
    """A message in which everything that differs from run to run (numbers, addresses, paths, ids) is masked."""
    return mask_run(fold(message))[:MAX_MESSAGE_CHARACTERS]


def fingerprint(*parts: str) -> str:
    """A short hash that is the same for the same root cause."""
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=6).hexdigest()


def outcome(report: Report) -> dict[str, Any]:
    """What a run's report says, as plain data."""
    found = next(
        (d for d in report.diagnoses if d.kind == "failure"), report.diagnoses[0] if report.diagnoses else None
    )
    out: dict[str, Any] = {"status": report.exit_code, "lines": report.input["lines"]}
    if report.retry["reason"] != "no-failure":
        out["retry"] = report.retry
    if found is not None:
        out["diagnosis"] = {
            "id": found.id, "kind": found.kind, "title": found.title, "confidence": found.confidence,
            "fingerprint": fingerprint(found.id), "line": found.evidence[0].line if found.evidence else None,
            "severity": found.severity,
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
