"""One run as the history keeps it, made from a report or from a row of a scan's record."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from troubleshooter.history.details import RunDetails
from troubleshooter.masking import mask_ids
from troubleshooter.outcome import outcome
from troubleshooter.printable import printable
from troubleshooter.report.model import Report

CauseKind = Literal["failure", "harmless", "unknown"]
MAX_LOG_CHARACTERS, MAX_TITLE_CHARACTERS, MAX_NAME_CHARACTERS = 1000, 300, 200
MAX_VERSIONS = 200
MAX_STAMP_CHARACTERS = 200


class RunCause(NamedTuple):
    """Why a run failed, or what harmless thing it printed. ``entry`` is None where no entry knows the failure."""

    fingerprint: str
    entry: str | None
    title: str
    kind: CauseKind
    severity: str | None
    retry: str | None


class RunRecord(NamedTuple):
    """A run of the history. ``cause`` is None for a healthy one; ``ended``: seconds since 1970; ``lost``: GPU hours.

    Two records of the same ``log`` are one run if their stamps are equal, or if the log has grown: it is longer, and its ``head``
    (digests of its first bytes) begins as before.
    """

    log: str
    head: str
    stamp: str
    bytes: int
    ended: float
    status: int
    job: str
    host: str | None
    gpu: str | None
    gpu_count: int | None
    versions: Mapping[str, str]
    settings: Mapping[str, str]
    cause: RunCause | None
    lost: float | None
    line: int | None


def facts_of(report: Report, told: RunDetails) -> dict[str, Any]:
    """What the history needs of a run beside its outcome, as plain data, which a worker can send to the scan."""
    ranks = [rank for failure in report.failures for rank in failure.ranks]
    gpus = report.facts["gpus"]
    count = told.gpus or (max(ranks) + 1 if ranks else None) or (1 if gpus else None)
    return {
        "host": told.host, "gpu": gpus[0] if gpus else None, "gpu_count": count, "seconds": told.seconds,
        "ended": told.ended, "versions": dict(list(report.facts["versions"].items())[:MAX_VERSIONS]),
        "settings": told.settings, "head": told.head, "bytes": told.bytes,
    }  # fmt: skip


def of_report(
    report: Report, told: RunDetails, *, log: str | None, stamp: str = "", job: str | None = None, host: str | None = None,
    versions: Mapping[str, str] | None = None, ended: float | None = None, seconds: float | None = None,
    modified: float | None = None, gpu_count: int | None = None, settings: Mapping[str, str] | None = None,
) -> RunRecord:  # fmt: skip
    """The record of one report. ``log``: the path; None for a log that came through a pipe, which is a run of its own each time.

    The other arguments are what the caller knows beside the log. ``modified``: when the log was last written to.
    """
    facts = facts_of(report, told)
    facts["host"] = host or facts["host"]
    facts["versions"] = facts["versions"] | dict(versions or {})
    facts["ended"] = ended or facts["ended"]
    facts["seconds"] = seconds or facts["seconds"]
    facts["gpu_count"] = told.gpus or gpu_count or facts["gpu_count"]
    facts["settings"] = dict(settings or {}) | facts["settings"]
    name = os.path.abspath(log) if log is not None else f"standard input {uuid.uuid4()}"
    return of_outcome(
        outcome(report), facts, log=name, stamp=stamp, job=job or job_of(log if log is not None else "standard input"),
        modified=modified or time.time(),
    )  # fmt: skip


def of_outcome(
    told: Mapping[str, Any], facts: Mapping[str, Any], *, log: str, stamp: str, job: str, modified: float
) -> RunRecord:
    """The record of a run, made from its outcome as scans keep it. ``modified``: when it ended, if the log does not say so."""
    cause, line = _cause(told)
    gpus, seconds = facts.get("gpu_count"), facts.get("seconds")
    failed = cause is not None and cause.kind != "harmless"
    return RunRecord(
        log=printable(log)[-MAX_LOG_CHARACTERS:],
        head=str(facts.get("head") or ""),
        stamp=stamp[:MAX_STAMP_CHARACTERS],
        bytes=int(facts.get("bytes") or 0),
        ended=float(facts.get("ended") or modified),
        status=int(told.get("status") or 0),
        job=printable(job)[:MAX_NAME_CHARACTERS],
        host=_name(facts.get("host")),
        gpu=_name(facts.get("gpu")),
        gpu_count=gpus,
        versions={printable(str(k)): printable(str(v)) for k, v in (facts.get("versions") or {}).items()},
        settings={printable(str(k)): printable(str(v)) for k, v in (facts.get("settings") or {}).items()},
        cause=cause,
        lost=seconds * gpus / 3600 if failed and seconds and gpus else None,
        line=line,
    )


def job_of(path: str) -> str:
    """The name of a job, which is the same for all its runs: the last two parts of the log's path, with ids and numbers masked."""
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    return mask_ids("/".join(parts[-2:])) or "standard input"


def _cause(told: Mapping[str, Any]) -> tuple[RunCause | None, int | None]:
    retry = (told.get("retry") or {}).get("decision")
    if (found := told.get("diagnosis")) is not None:
        title = printable(str(found["title"]))[:MAX_TITLE_CHARACTERS]
        kind: CauseKind = "harmless" if found["kind"] == "harmless" else "failure"
        return RunCause(found["fingerprint"], found["id"], title, kind, found.get("severity"), retry), found["line"]
    if (unknown := told.get("unknown")) is not None:
        title = printable(f"{unknown['exception']}: {unknown['message']}")[:MAX_TITLE_CHARACTERS]
        return RunCause(unknown["fingerprint"], None, title, "unknown", None, retry), unknown["line"]
    return None, None


def _name(text: object) -> str | None:
    return printable(str(text))[:MAX_NAME_CHARACTERS] if text else None
