"""``troubleshoot scan PATH…``: many logs → one summary."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kb.cache import packs
from kb.compiled import Knowledge
from kb.errors import UsageError
from troubleshooter.cli.settings import ignored
from troubleshooter.printable import printable
from troubleshooter.report.jsontext import as_json
from troubleshooter.scan import jobs, record
from troubleshooter.scan.places.names import is_elsewhere
from troubleshooter.scan.run import Executor, scan
from troubleshooter.scan.summary import MAX_SHOWN, lines, listing, listing_lines, summary
from troubleshooter.scan.worker import WorkerSetup
from troubleshooter.scan.workers import STALLED_SECONDS, Workers
from troubleshooter.signals import Ended, Signals

if TYPE_CHECKING:
    from troubleshooter.scan.places.opening import LogPlaces

RECORD = "troubleshoot-scan.jsonl"


def run(
    paths: Sequence[str], *, kept: Path | None, summary_only: bool, workers: int | None, entries: Sequence[Path],
    ignore: Sequence[str], lang: str, format: str, history: Path | None = None, listed: bool = False,
    on: str | None = None, stalled: float = STALLED_SECONDS,
) -> int:  # fmt: skip
    """Scan logs and print the summary. With ``summary_only`` the paths are records, which are only summed up.

    Returns the exit status: 1 a failure was diagnosed, 3 only unknown failures, 2 nothing could be read, else 0; after a
    signal 128 plus its number. Raises `UsageError` when the paths hold no log. With ``listed`` only the files of
    each job are printed, and the exit status is 0. ``on`` names a Ray cluster (`on_ray.OnRay`); a log on which a worker
    spends over ``stalled`` seconds and a second for each MB is given up.
    """
    target = kept or Path(RECORD)
    skipped: list[jobs.Skipped] = []
    try:
        if summary_only:
            known = record.read(Path(p) for p in paths)
            rows: Iterable[record.Row] = known
        else:
            with Signals().caught(), places_of(paths) as places:
                found, skipped = jobs.find(paths, places)
                if not found:
                    for path, reason in skipped[:MAX_SHOWN]:
                        _say(f"{path}: {reason}")
                    raise UsageError("scan: nothing to scan; give files, folders, patterns or URLs of logs")
                if listed:
                    both = jobs.FoundJobs(found, skipped)
                    print(
                        as_json(listing(both), indent=1) if format == "json" else "\n".join(listing_lines(both, lang))
                    )
                    return 0
                reasons = ignored(ignore, packs(*entries))  # compiled once here, not by every worker
                bar = format == "terminal" and sys.stderr.isatty()
                with _history(history) as on_rows:
                    copies = places.copies if places else {}
                    setup = WorkerSetup(tuple(map(str, entries)), reasons, copies, on_rows is not None)
                    executor = _executor(on, setup, workers, stalled)
                    known = scan(found, target, executor, bar=bar, on_rows=on_rows)
            rows = (row for job in found if (row := known.get(job.name)) is not None)
    except KeyboardInterrupt as ended:
        number = ended.number if isinstance(ended, Ended) else signal.SIGINT
        how = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
        print(file=sys.stderr)  # end the line of the progress bar
        _say(f"{how}; finished jobs are kept in {target}: run the same command again to go on from there")
        return 128 + number  # the convention of shells
    today = record.under_new_ids(rows, Knowledge(packs(*entries)).resolve)
    told = summary(today, skipped, passed_over=known.passed_over, newer=known.newer)
    print(as_json(told, indent=1) if format == "json" else "\n".join(lines(told, lang)))
    return 1 if told["failures"] else 3 if told["unknown"] else 2 if told["unreadable"] and not told["healthy"] else 0


@contextlib.contextmanager
def _history(path: Path | None) -> Iterator[Callable[[Iterable[bytes]], None] | None]:
    """A function that puts rows into the history in this file; ``None``, with nothing imported, without a file."""
    if path is None:
        yield None
        return
    from troubleshooter.history.recording import add_rows
    from troubleshooter.history.store import History

    with History(path) as history:
        yield partial(add_rows, history)


def places_of(paths: Iterable[str]) -> contextlib.AbstractContextManager[LogPlaces | None]:
    """The object that opens URLs and archives; None, with nothing imported, if all of these paths are local logs."""
    if not any(map(is_elsewhere, paths)):
        return contextlib.nullcontext()
    from troubleshooter.scan.places.opening import LogPlaces

    return LogPlaces()


def _executor(
    on: str | None, setup: WorkerSetup, workers: int | None, stalled_s: float
) -> AbstractContextManager[Executor]:
    """Processes on this machine, or with ``on`` a Ray cluster."""
    if on is None:
        return Workers(workers or cores(), setup, stalled_s=stalled_s)
    from troubleshooter.scan.on_ray import OnRay

    return OnRay(on, setup, workers=workers, stalled_s=stalled_s)


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _say(text: str) -> None:
    print("\n".join(map(printable, f"troubleshoot scan: {text}".split("\n"))), file=sys.stderr)
