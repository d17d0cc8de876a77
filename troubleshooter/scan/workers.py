"""The worker processes of a scan: shards of jobs go in, rows of the record come out.

A worker can be killed at any time: by the system when memory runs out, or by a fault of a compiled library on some log. The
rows that it had finished are kept. The job that it was working on is tried once more, alone; if that worker is killed as
well, the job's row says so. The other jobs go on. A worker that gives no answer for too long is killed, so a job on which it
hangs ends in the same way.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from kb.errors import TroubleshootError
from troubleshooter.printable import printable
from troubleshooter.scan import record
from troubleshooter.scan.job_list import Job
from troubleshooter.scan.worker import READY, WorkerSetup, job_line, setup_line

MAX_STARTS = 3
"""The scan gives up when this many workers in a row end before they are ready."""
STALLED_SECONDS = 600.0
"""A worker that gives no row for so long, and a second more for each `BYTES_PER_SECOND` of the job, is killed."""
BYTES_PER_SECOND = 1_000_000
"""The slowest reading of a log that still counts as going on."""
SHARDS_PER_WORKER = 2
"""A worker works on one shard while the next one waits beside it."""
_LOOKS = 4
"""How often the time limit is looked at within it."""


class ScanError(TroubleshootError):
    """The scan cannot go on. The message is one sentence with the next step."""


class Workers:
    """At most ``count`` processes. They are started when needed and killed when the ``with`` block ends."""

    def __init__(self, count: int, setup: WorkerSetup, *, stalled_s: float = STALLED_SECONDS) -> None:
        self.where = ""  # this machine
        self.capacity = count
        self._setup = setup_line(setup)
        self._stalled_s = stalled_s
        self._end = threading.Event()
        self._threads = ThreadPoolExecutor(count, "scan", initializer=_without_interrupts)
        self._own = threading.local()  # each thread has its own worker
        self._lock = threading.Lock()
        self._all: set[_Worker] = set()
        self._closed = False

    def __enter__(self) -> Workers:
        threading.Thread(target=self._end_stalled, name="scan-limit", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            workers = list(self._all)
        self._end.set()
        for worker in workers:
            worker.kill()
        self._threads.shutdown(cancel_futures=True)

    def rows(self, shards: Iterable[Sequence[Job]]) -> Iterator[list[bytes]]:
        """The rows of each shard, in the order in which shards finish. Raises `ScanError` if no worker can be started."""
        waiting = iter(shards)
        running: set[Future[list[bytes]]] = set()
        while True:
            for shard in islice(waiting, SHARDS_PER_WORKER * self.capacity - len(running)):
                running.add(self._threads.submit(self._diagnose, shard))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for one in done:
                yield one.result()

    def _diagnose(self, shard: Sequence[Job]) -> list[bytes]:
        """The rows of these jobs, in their order."""
        rows: list[bytes] = []
        suspect: Job | None = None  # the job that the last worker was diagnosing when it ended
        while len(rows) < len(shard):
            job = shard[len(rows)]
            try:
                for row in self._worker().rows([job] if job is suspect else shard[len(rows) :]):
                    rows.append(row)
            except _Ended as ended:
                self._forget()
                at = shard[len(rows)]
                if at is suspect:
                    rows.append(record.line_of(at, record.failed(_poisoned(at, str(ended)))))
                suspect = at
        return rows

    def _worker(self) -> _Worker:
        """The worker of this thread, ready for jobs."""
        for _ in range(MAX_STARTS):
            worker: _Worker | None = getattr(self._own, "worker", None)
            if worker is None:
                with self._lock:
                    if self._closed:
                        raise ScanError("the scan was ended")
                    worker = self._own.worker = _Worker(self._setup, self._stalled_s)
                    self._all.add(worker)
            try:
                worker.wait_until_ready()
            except _Ended as ended:
                self._forget()
                reason = str(ended)
            else:
                return worker
        raise ScanError(
            f"{MAX_STARTS} workers ended before they were ready, the last one {reason}; their error messages are printed above"
        )

    def _end_stalled(self) -> None:
        """Look again and again for workers that have been at one job for too long."""
        while not self._end.wait(min(self._stalled_s / _LOOKS, 5.0)):
            with self._lock:
                workers = list(self._all)
            for worker in workers:
                worker.kill_if_stalled()

    def _forget(self) -> None:
        with self._lock:
            self._all.discard(self._own.worker)
        self._own.worker = None


class _Ended(Exception):
    """A worker ended; the text says how."""


class _Worker:
    """One process, used by one thread. Raises OSError if it cannot be started."""

    def __init__(self, setup: bytes, stalled_s: float) -> None:
        starter = Path(__file__).with_name("start_worker.py")
        command = [sys.executable, str(starter), json.dumps(sys.path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._input, self._output = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._ready = False
        self._unsent = setup
        self._stalled_s = stalled_s
        self._limit: tuple[float, float] | None = None  # of the job at hand: its seconds, and when they are over
        self._stalled = ""

    def wait_until_ready(self) -> None:
        """Wait until it has loaded the entries. Raises `_Ended`."""
        if not self._ready:
            self._send(self._unsent)
            if self._output.readline() != READY:
                raise self._ended()
            self._ready = True

    def rows(self, jobs: Sequence[Job]) -> Iterator[bytes]:
        """The row of each job as it is done. Raises `_Ended` if the worker ends; a half-written row is not returned."""
        self._send(b"".join(map(job_line, jobs)))
        for job in jobs:
            limit = self._stalled_s + job.size_bytes / BYTES_PER_SECOND
            self._limit = limit, time.monotonic() + limit
            row = self._output.readline()
            self._limit = None
            if not row.endswith(b"\n"):
                raise self._ended()
            yield row

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()

    def kill_if_stalled(self) -> None:
        """End the process if it has been at one job for longer than it may. Called by another thread."""
        limit = self._limit
        if limit is not None and time.monotonic() > limit[1]:
            self._stalled = f"gave no answer for {limit[0]:.0f} s and was ended"
            self._process.kill()

    def _send(self, lines: bytes) -> None:
        try:
            self._input.write(lines)
            self._input.flush()
        except OSError as error:  # a broken pipe
            raise self._ended() from error

    def _ended(self) -> _Ended:
        code = self._process.wait()
        for pipe in (self._input, self._output):
            with suppress(OSError):  # closing flushes bytes that the dead process cannot take
                pipe.close()
        if self._stalled:
            return _Ended(self._stalled)
        if code >= 0:
            return _Ended(f"ended with exit status {code}")
        try:
            return _Ended(f"was ended by {signal.Signals(-code).name}")
        except ValueError:
            return _Ended(f"was ended by signal {-code}")


def _without_interrupts() -> None:
    """Block SIGINT in this thread and the processes that it starts: the terminal sends Ctrl-C to all, but the scan ends them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _poisoned(job: Job, how: str) -> str:
    often = "" if "no answer" in how else " (often because the system ran out of memory)"
    return (
        f"{printable(job.files[0])}: the process that read it {how}, twice{often}; look at it alone: troubleshoot FILE"
    )
