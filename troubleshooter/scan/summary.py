"""The summary of a scan: failures grouped by root cause, unknown ones by masked message, the largest group first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timezone
from typing import Any

from kb.text.catalog import Section
from troubleshooter.printable import printable, shell_word
from troubleshooter.scan.jobs import FoundJobs, Skipped
from troubleshooter.scan.record import Cause, Row

EXAMPLES = 3
_say = Section("scan")
MAX_SHOWN = 20
"""How many unreadable paths, and how many skipped ones, the text names."""


def summary(
    rows: Iterable[Row], skipped: Sequence[Skipped] = (), *, passed_over: int = 0, newer: int = 0
) -> dict[str, Any]:
    """Sum up rows, which come in the order of their jobs, and what `Rows` tells of the lines between them."""
    groups: dict[str, dict[str, Any]] = {}
    jobs = files = healthy = harmless = 0
    unreadable: list[dict[str, str]] = []
    for row in rows:
        jobs += 1
        files += row.file_count
        if row.error:
            unreadable.append({"job": row.job, "error": row.error})
        elif row.cause is None:
            healthy += 1
        elif row.cause.harmless:
            harmless += 1
        else:
            _add(groups, row, row.cause)
    ordered = sorted(groups.values(), key=lambda g: (-g["jobs"], g["fingerprint"]))
    for group in ordered:
        group["first_seen"], group["last_seen"] = _day(group["first_seen"]), _day(group["last_seen"])
    return {
        "schema_version": 1,
        "jobs": jobs,
        "files": files,
        "healthy": healthy,
        "harmless": harmless,
        "failures": [g for g in ordered if g["known"]],
        "unknown": [g for g in ordered if not g["known"]],
        "unreadable": unreadable,
        "skipped": [skip._asdict() for skip in sorted(skipped)],
        "lines_passed_over": passed_over,
        "rows_of_newer_version": newer,
    }


def _add(groups: dict[str, dict[str, Any]], row: Row, cause: Cause) -> None:
    group = groups.setdefault(
        cause.fingerprint,
        {
            "fingerprint": cause.fingerprint, "known": cause.id is not None, "id": cause.id, "title": cause.title,
            "jobs": 0, "first_seen": row.modified, "last_seen": row.modified, "examples": [],
        },
    )  # fmt: skip
    group["jobs"] += 1
    group["first_seen"] = min(group["first_seen"], row.modified)
    group["last_seen"] = max(group["last_seen"], row.modified)
    if len(group["examples"]) < EXAMPLES:
        group["examples"].append(f"{row.file}:{cause.line}")
        if cause.id is None and "new" not in group:
            group["new"] = f"troubleshoot new {shell_word(row.file)}"


def _day(time: float) -> str:
    return datetime.fromtimestamp(time, timezone.utc).strftime("%Y-%m-%d %H:%M")


def lines(found: dict[str, Any], lang: str) -> list[str]:
    """The summary as lines of text. Characters of file names and records that are not printable are escaped."""
    failed = sum(g["jobs"] for g in (*found["failures"], *found["unknown"]))
    out = [_say("jobs", lang, count=found["jobs"], failed=failed, healthy=found["healthy"], harmless=found["harmless"])]
    if found["files"] > found["jobs"]:
        out.append(_say("files", lang, files=found["files"]))
    for key in ("failures", "unknown"):
        if not found[key]:
            continue
        out += ["", _say(key, lang)]
        for group in found[key]:
            name = group["id"] or group["fingerprint"]
            out.append(f"{group['jobs']:>7}  {group['title'][:160]}  ({name})")
            span = (
                group["first_seen"]
                if group["first_seen"] == group["last_seen"]
                else f"{group['first_seen']} … {group['last_seen']}"
            )
            out.append(f"         {span}   {group['examples'][0]}")
            if group.get("new"):
                out.append(f"         {group['new']}")
    out += _some("unreadable", [row["error"] for row in found["unreadable"]], lang)
    out += _some("skipped", [f"{skip['path']}: {skip['reason']}" for skip in found["skipped"]], lang)
    for key, phrase in (("lines_passed_over", "lines-passed-over"), ("rows_of_newer_version", "rows-newer")):
        if found[key]:
            out += ["", _say(phrase, lang, count=found[key])]
    return [printable(line) for line in out]


def listing(found: FoundJobs) -> dict[str, Any]:
    """Which files belong to which job, as JSON."""
    return {
        "schema_version": 1,
        "runs": [{"job": job.name, "files": list(job.files)} for job in found.jobs],
        "skipped": [skip._asdict() for skip in sorted(found.skipped)],
    }


def listing_lines(found: FoundJobs, lang: str) -> Iterator[str]:
    """Which files belong to which job, as text; a job of one file that bears its name is one line."""
    yield _say("listed", lang, jobs=len(found.jobs), files=sum(len(job.files) for job in found.jobs))
    yield ""
    for job in found.jobs:
        yield printable(job.name)
        if job.files != (job.name,):
            yield from (f"         {printable(file)}" for file in job.files)
    yield from map(printable, _some("skipped", [f"{skip.path}: {skip.reason}" for skip in found.skipped], lang))


def _some(key: str, texts: Sequence[str], lang: str) -> list[str]:
    """A section with the first `MAX_SHOWN` of these texts and the number of the others; nothing if there are no texts."""
    if not texts:
        return []
    lines = ["", _say(key, lang), *(f"         {text}" for text in texts[:MAX_SHOWN])]
    if len(texts) > MAX_SHOWN:
        lines.append("         " + _say("more", lang, count=len(texts) - MAX_SHOWN))
    return lines
