"""``troubleshoot scan PATH…``: many logs → one summary."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from kb.cache import packs
from kb.problem import EntryError
from troubleshooter.cli.settings import SettingsError, ignored, language
from troubleshooter.read.cores import cores
from troubleshooter.scan import jobs, record
from troubleshooter.scan.printable import json_text, printable
from troubleshooter.scan.run import scan
from troubleshooter.scan.summary import MAX_SHOWN, lines, summary
from troubleshooter.scan.workers import ScanError

RECORD = "troubleshoot-scan.jsonl"
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""


def run(
    paths: Sequence[str], *, kept: Path | None, summary_only: bool, workers: int | None, entries: Sequence[Path],
    ignore: Sequence[str], lang: str | None, format: str,
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
                _say("nothing to scan; give files, folders or patterns of logs")
                return 2
            packs(*entries)  # compiled once here, not by every worker
            bar = format == "terminal" and sys.stderr.isatty()
            known = scan(
                found, target, workers=workers or cores(), entries=entries, ignore=ignored(list(ignore)), bar=bar
            )
            rows = known._replace(
                by_job={job.name: known.by_job[job.name] for job in found if job.name in known.by_job}
            )
    except EntryError as error:
        _say(f"entries that cannot be used:\n{error}")
        return 2
    except (OSError, ScanError, SettingsError) as error:
        _say(str(error))
        return 2
    except KeyboardInterrupt:
        print(file=sys.stderr)  # behind the progress bar
        _say(f"interrupted; what was done is kept in {target}: the same command goes on from there")
        return INTERRUPTED
    told = summary(rows, skipped)
    text = json_text(told, indent=1) if format == "json" else "\n".join(lines(told, language(lang)))
    print(text)
    return 1 if told["failures"] else 3 if told["unknown"] else 2 if told["unreadable"] and not told["healthy"] else 0


def _say(text: str) -> None:
    print("\n".join(map(printable, f"troubleshoot scan: {text}".split("\n"))), file=sys.stderr)
