"""``troubleshoot scan PATH…``: many logs → one summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from kb.cache import packs
from kb.errors import UsageError
from troubleshooter.cli.settings import ignored
from troubleshooter.report.jsontext import as_json
from troubleshooter.scan import jobs, record
from troubleshooter.scan.printable import printable
from troubleshooter.scan.run import scan
from troubleshooter.scan.summary import MAX_SHOWN, lines, summary

RECORD = "troubleshoot-scan.jsonl"
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def run(
    paths: Sequence[str], *, kept: Path | None, summary_only: bool, workers: int | None, entries: Sequence[Path],
    ignore: Sequence[str], lang: str, format: str,
) -> int:  # fmt: skip
    """Scan and sum up; with ``summary_only`` the paths are records to sum up. Exit status as for one log."""
    target = kept or Path(RECORD)
    skipped: list[jobs.Skipped] = []
    try:
        if summary_only:
            rows = record.read(Path(p) for p in paths)
        else:
            found, skipped = jobs.find(paths)
            if not found:
                for path, reason in skipped[:MAX_SHOWN]:
                    _say(f"{path}: {reason}")
                raise UsageError("scan: nothing to scan; give files, folders or patterns of logs")
            reasons = ignored(ignore, packs(*entries))  # compiled once here, not by every worker
            bar = format == "terminal" and sys.stderr.isatty()
            known = scan(found, target, workers=workers or _cores(), entries=entries, ignore=reasons, bar=bar)
            rows = known._replace(
                by_job={job.name: known.by_job[job.name] for job in found if job.name in known.by_job}
            )
    except KeyboardInterrupt:
        print(file=sys.stderr)  # behind the progress bar
        _say(f"interrupted; what was done is kept in {target}: the same command goes on from there")
        return INTERRUPTED
    told = summary(rows, skipped)
    print(as_json(told, indent=1) if format == "json" else "\n".join(lines(told, lang)))
    return 1 if told["failures"] else 3 if told["unknown"] else 2 if told["unreadable"] and not told["healthy"] else 0


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _say(text: str) -> None:
    print("\n".join(map(printable, f"troubleshoot scan: {text}".split("\n"))), file=sys.stderr)
