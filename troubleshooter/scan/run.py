"""Run a scan: diagnose on all cores, show a progress bar, append each result to the record."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from troubleshooter.history.recording import add_record, of_rows
from troubleshooter.history.store import History
from troubleshooter.scan import record
from troubleshooter.scan.jobs import Job
from troubleshooter.scan.record import Rows
from troubleshooter.scan.workers import Workers

BATCH_JOBS = 24
"""Jobs that a worker gets at once: enough to hide the cost of handing over, few enough to write the record often."""


def scan(
    jobs: Sequence[Job], kept: Path, *, workers: int, entries: Sequence[Path], ignore: dict[str, str], bar: bool,
    history: History | None = None,
) -> Rows:  # fmt: skip
    """Diagnose the jobs that the record does not hold yet. Returns all rows of the record.

    A run is in the ``history`` before it is in the record, so that a scan that is killed and started again loses none.
    Raises OSError if the record cannot be read or written, `ScanError` if no process can be started, and `HistoryError`.
    """
    done = Rows({})
    if kept.exists():
        record.drop_cut_row(kept)
        done = record.read([kept])
        if history is not None:
            add_record(history, kept)
    todo = [job for job in jobs if job.name not in done.by_job or done.by_job[job.name].stamp != job.stamp]
    if not todo:
        return done
    # With few jobs, smaller batches keep all workers busy.
    size = max(1, min(BATCH_JOBS, -(-len(todo) // workers)))
    batches = [todo[i : i + size] for i in range(0, len(todo), size)]
    progress = _Bar(len(jobs), len(jobs) - len(todo)) if bar else None
    made = Workers(min(workers, len(batches)), entries, ignore, history=history is not None)
    with kept.open("ab") as file, made as processes:
        for lines in processes.rows(batches):
            if history is not None:
                history.add(of_rows(lines))
            file.write(b"".join(lines))
            file.flush()
            done.by_job.update(record.rows(lines).by_job)
            if progress:
                progress.step(len(lines))
    if progress:
        progress.end()
    return done


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
