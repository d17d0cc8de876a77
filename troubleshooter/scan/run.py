"""Running a scan: all cores, a progress bar, a record that is appended to as jobs are done."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from itertools import islice
from pathlib import Path
from typing import Any

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Source, Unreadable, from_path
from troubleshooter.scan import record
from troubleshooter.scan.jobs import Job

BATCH = 24
"""Jobs that a worker takes at once: enough to hide the hand-over, few enough to keep the record fresh."""

_tool: Diagnoser | None = None


def scan(
    jobs: Sequence[Job], kept: Path, *, workers: int, entries: Sequence[Path], ignore: dict[str, str], bar: bool
) -> dict[str, dict[str, Any]]:
    """Diagnose the jobs that the record does not hold yet; all that it holds then, by job."""
    done = record.read([kept]) if kept.exists() else {}
    if kept.exists():
        record.mend(kept)
    todo = [job for job in jobs if done.get(job.name, {}).get("stamp") != job.stamp]
    if not todo:
        return done
    progress = _Bar(len(jobs), len(jobs) - len(todo)) if bar else None
    with kept.open("ab") as file:
        for rows in _results(todo, workers, entries, ignore):
            file.write(b"".join(rows))
            file.flush()
            done |= record.rows(rows)  # while the others work
            if progress:
                progress.step(len(rows))
    if progress:
        progress.end()
    return done


def _results(
    jobs: Sequence[Job], workers: int, entries: Sequence[Path], ignore: dict[str, str]
) -> Iterator[list[bytes]]:
    batches = [list(jobs[i : i + BATCH]) for i in range(0, len(jobs), BATCH)]
    if workers <= 1 or len(batches) == 1:
        _start(entries, ignore)
        for batch in batches:
            yield _diagnose(batch)
        return
    with ProcessPoolExecutor(workers, initializer=_start, initargs=(entries, ignore)) as pool:
        waiting = {pool.submit(_diagnose, batch) for batch in batches[: workers * 3]}
        rest = iter(batches[workers * 3 :])
        while waiting:
            ready, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in ready:
                waiting |= {pool.submit(_diagnose, batch) for batch in islice(rest, 1)}
                yield future.result()


def _start(entries: Sequence[Path], ignore: dict[str, str]) -> None:
    global _tool
    _tool = Diagnoser.load(entries, ignore=ignore, helpers=0)  # no helpers: every core has a worker of its own
    gc.collect()
    gc.freeze()  # the knowledge stays: looking through it again and again for garbage took 1 to 9 % of a scan


def _diagnose(batch: Sequence[Job]) -> list[bytes]:
    """The lines of the record for these jobs."""
    tool = _tool or Diagnoser.load()
    return [json.dumps(one(job, tool), ensure_ascii=False).encode() + b"\n" for job in batch]


def one(job: Job, tool: Diagnoser) -> dict[str, Any]:
    """The record of one job; whatever is wrong with its files stays its own trouble."""
    row: dict[str, Any] = {
        "schema_version": record.SCHEMA_VERSION, "job": job.name, "files": list(job.files), "stamp": job.stamp,
        "modified": job.modified,
    }  # fmt: skip
    try:
        sources: list[Source] = [s for file in job.files for s in from_path(Path(file))]
        row.update(record.outcome(tool.report(sources, top=3, brief=True)))
    except Unreadable as error:
        row.update(status=2, error=str(error))
    except Exception as error:  # a defect of ours on one log must not lose the other logs
        row.update(status=2, error=f"{type(error).__name__}: {error}")
    return row


class _Bar:
    """A progress bar on standard error."""

    def __init__(self, total: int, done: int) -> None:
        self.total, self.done = total, done
        self.step(0)

    def step(self, count: int) -> None:
        self.done += count
        width = 30
        full = width * self.done // max(1, self.total)
        sys.stderr.write(f"\r{'█' * full}{'░' * (width - full)} {self.done}/{self.total} logs")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\n")
