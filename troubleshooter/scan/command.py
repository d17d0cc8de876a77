"""``troubleshoot scan PATH…``: many logs → one summary."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from kb.problem import EntryError
from troubleshooter.cli.settings import SettingsError, ignored, language
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.cores import cores
from troubleshooter.scan import jobs, record
from troubleshooter.scan.run import scan
from troubleshooter.scan.summary import lines, summary

RECORD = "troubleshoot-scan.jsonl"


def run(
    paths: Sequence[str], *, kept: Path | None, summary_only: bool, workers: int | None, entries: Sequence[Path],
    ignore: Sequence[str], lang: str | None, format: str,
) -> int:  # fmt: skip
    """Scan and sum up; with ``summary_only`` the paths are records to sum up. Exit status as for one log."""
    try:
        if summary_only:
            rows = record.read(Path(p) for p in paths)
        else:
            target = kept or Path(RECORD)
            found, missing = jobs.find(paths)
            for name in missing:
                print(f"troubleshoot scan: {name}: no such file or folder", file=sys.stderr)
            if not found:
                print("troubleshoot scan: nothing to scan; give files, folders or patterns of logs", file=sys.stderr)
                return 2
            Diagnoser.load(entries)  # compiled once here, not by every worker
            bar = format == "terminal" and sys.stderr.isatty()
            known = scan(
                found, target, workers=workers or cores(), entries=entries, ignore=ignored(list(ignore)), bar=bar
            )
            rows = {job.name: known[job.name] for job in found if job.name in known}
    except EntryError as error:
        print(f"troubleshoot scan: entries that cannot be used:\n{error}", file=sys.stderr)
        return 2
    except (OSError, SettingsError) as error:
        print(f"troubleshoot scan: {error}", file=sys.stderr)
        return 2
    told = summary(rows)
    if format == "json":
        print(json.dumps(told, ensure_ascii=False, indent=1))
    else:
        print("\n".join(lines(told, language(lang))))
    return 1 if told["failures"] else 3 if told["unknown"] else 2 if told["unreadable"] and not told["healthy"] else 0
