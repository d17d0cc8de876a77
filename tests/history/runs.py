"""Made runs for the tests of the history."""

from __future__ import annotations

from typing import Any

from troubleshooter.history.run_record import RunCause, RunRecord

DAY = 86_400
START = 1_750_032_000
"""2025-06-16, the first second of a day."""


def cause(name: str, *, known: bool = True) -> RunCause:
    """A failure: an entry of this name, or an unknown failure with this fingerprint."""
    return RunCause(name, name if known else None, f"The {name} failure", "failure" if known else "unknown", "crash", None)


def made(number: int, **changed: Any) -> RunRecord:
    """A healthy run on day ``number``, with the changes."""
    run = RunRecord(
        log=f"/logs/{number}.log", head=str(number), stamp="1", bytes=100, ended=float(START + number * DAY), status=0, job="train", host=None,
        gpu=None, gpu_count=None, versions={}, settings={}, cause=None, lost=None, line=None,
    )  # fmt: skip
    return run._replace(**changed)
