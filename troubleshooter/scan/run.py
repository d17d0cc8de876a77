"""Run a scan: diagnose on all cores or on a cluster, show a progress bar, append each result to the record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, Protocol

from troubleshooter.scan import record
from troubleshooter.scan.job_list import Job, JobList
from troubleshooter.scan.lock import hold
from troubleshooter.scan.record import Rows
from troubleshooter.scan.shards import shards
from troubleshooter.scan.workers import ScanError


class Executor(Protocol):
    """What diagnoses the shards of a scan: the processes of this machine, or a cluster."""

    @property
    def capacity(self) -> int:
        """How many shards it works on at the same time."""

    @property
    def where(self) -> str:
        """Where it runs, for the progress bar; empty for this machine."""

    def rows(self, shards: Iterable[Sequence[Job]]) -> Iterator[list[bytes]]:
        """The rows of each shard once, in the order in which shards finish."""


def scan(
    jobs: JobList, kept: Path, executor: AbstractContextManager[Executor], *, bar: bool,
    on_rows: Callable[[Iterable[bytes]], None] | None = None,
) -> Rows:  # fmt: skip
    """Diagnose the jobs that the record does not hold yet. Returns all rows of the record. The ``executor`` is entered only if
    there is a job to do.

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
        count = sum(1 for _ in _to_do(jobs, done)) if done else len(jobs)
        if not count:
            return done
        with executor as working:
            progress = _Bar(len(jobs), len(jobs) - count, working) if bar else None
            todo = _to_do(jobs, done) if done else jobs
            for lines in working.rows(shards(todo, count, working.capacity)):
                if on_rows is not None:
                    on_rows(lines)
                _append(file, lines, kept)
                done.add(lines)
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


def _to_do(jobs: Iterable[Job], done: Rows) -> Iterator[Job]:
    """The jobs without a row, or with one that does not hold any more. Rows may be added meanwhile for those that were given."""
    for job in jobs:
        row = done.get(job.name)
        if row is None or row.stamp != job.stamp or row.again:
            yield job


class _Bar:
    """A progress bar on standard error."""

    def __init__(self, total: int, done: int, executor: Executor) -> None:
        self.total, self.done, self.executor = total, done, executor
        self.step(0)

    def step(self, count: int) -> None:
        self.done += count
        width = 30
        full = width * self.done // max(1, self.total)
        where = f" {where}" if (where := self.executor.where) else ""
        sys.stderr.write(f"\r{'█' * full}{'░' * (width - full)} {self.done}/{self.total} logs{where}\x1b[K")
        sys.stderr.flush()

    def end(self) -> None:
        sys.stderr.write("\n")
