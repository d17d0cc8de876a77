"""Run a scan: diagnose on all cores, show a progress bar, append each result to the record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from troubleshooter.scan import record
from troubleshooter.scan.jobs import Job
from troubleshooter.scan.lock import hold
from troubleshooter.scan.record import Row, Rows
from troubleshooter.scan.workers import ScanError, Workers

BATCH_JOBS = 24
"""Jobs that a worker gets at once: enough to hide the cost of handing over, few enough to write the record often."""


def scan(
    jobs: Sequence[Job], kept: Path, *, workers: int, entries: Sequence[Path], ignore: dict[str, str], bar: bool,
    copies: dict[str, str] | None = None, on_rows: Callable[[Iterable[bytes]], None] | None = None,
) -> Rows:  # fmt: skip
    """Diagnose the jobs that the record does not hold yet. Returns all rows of the record. ``copies`` maps an archive to the
    path of its unpacked copy.

    ``on_rows`` keeps the rows elsewhere, too (in a history): it gets those of the record first, then all new ones, each
    before it is in the record, so that a scan that is killed and started again loses none.

    Raises OSError if the record cannot be read, `ScanError` if a row cannot be written or no process can be started,
    `InUse` if another scan writes to the record, and what ``on_rows`` raises.
    """
    with kept.open("ab") as file:
        hold(file, kept, "another scan")
        record.drop_cut_row(kept)
        done = record.read([kept])
        if on_rows is not None:
            with kept.open("rb") as rows:
                on_rows(rows)
        todo = [job for job in jobs if _is_to_do(job, done.by_job.get(job.name))]
        if not todo:
            return done
        # With few jobs, smaller batches keep all workers busy.
        size = max(1, min(BATCH_JOBS, -(-len(todo) // workers)))
        batches = [todo[i : i + size] for i in range(0, len(todo), size)]
        progress = _Bar(len(jobs), len(jobs) - len(todo)) if bar else None
        made = Workers(min(workers, len(batches)), entries, ignore, copies, history=on_rows is not None)
        with made as processes:
            for lines in processes.rows(batches):
                if on_rows is not None:
                    on_rows(lines)
                _append(file, lines, kept)
                done.by_job.update(record.rows(lines).by_job)
                if progress:
                    progress.step(len(lines))
    if progress:
        progress.end()
    return done


def _append(file: IO[bytes], lines: Sequence[bytes], kept: Path) -> None:
    """Add rows to the record. A row that a full disk cuts is dropped by the next scan."""
    try:
        file.write(b"".join(lines))
        file.flush()
    except OSError as error:
        with suppress(OSError):
            file.close()  # what is buffered cannot be written either
        raise ScanError(
            f"{kept}: cannot be written: {error.strerror}; what was written is kept: make room, and the same command goes on"
        ) from error


def _is_to_do(job: Job, row: Row | None) -> bool:
    return row is None or row.stamp != job.stamp or row.again


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
