"""The processes of a scan, as the scan sees them: batches of jobs go in, rows of the record come out.

A worker may be killed at any time: by the system for lack of memory, by a fault in a library that a log runs into. The
jobs that it had done are kept, the one that it was at is tried apart, in a worker of its own; when that is killed, too,
the row of the job says so. The other jobs go on.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from kb.errors import TroubleshootError
from troubleshooter.scan import record
from troubleshooter.scan.jobs import Job
from troubleshooter.scan.printable import printable
from troubleshooter.scan.worker import READY, job_line, setup_line

MAX_STARTS = 3
"""Workers in a row that end before they are ready; then the scan gives up."""


class ScanError(TroubleshootError):
    """A scan that cannot go on: one sentence with the next step."""


class Workers:
    """``count`` processes at most, made when they are needed, and ended when the context is left."""

    def __init__(self, count: int, entries: Sequence[Path], ignore: dict[str, str]) -> None:
        self._setup = setup_line(list(entries), ignore)
        self._threads = ThreadPoolExecutor(count, "scan", initializer=_without_interrupts)
        self._own = threading.local()  # the worker of each thread
        self._lock = threading.Lock()
        self._all: set[_Worker] = set()
        self._closed = False

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            worker.kill()
        self._threads.shutdown(cancel_futures=True)

    def rows(self, batches: Iterable[Sequence[Job]]) -> Iterator[list[bytes]]:
        """The rows of each batch, as batches are done. Raises `ScanError` where no worker can be started."""
        for done in as_completed({self._threads.submit(self._diagnose, batch) for batch in batches}):
            yield done.result()

    def _diagnose(self, batch: Sequence[Job]) -> list[bytes]:
        """The rows of these jobs, in their order."""
        rows: list[bytes] = []
        suspect: Job | None = None  # the job that the last worker was at when it ended
        while len(rows) < len(batch):
            job = batch[len(rows)]
            try:
                for row in self._worker().rows([job] if job is suspect else batch[len(rows) :]):
                    rows.append(row)
            except _Ended as ended:
                self._forget()
                at = batch[len(rows)]
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
                    worker = self._own.worker = _Worker(self._setup)
                    self._all.add(worker)
            try:
                worker.wait_until_ready()
            except _Ended as ended:
                self._forget()
                reason = str(ended)
            else:
                return worker
        raise ScanError(
            f"{MAX_STARTS} workers ended before they were ready, the last one {reason}; it says why above this line"
        )

    def _forget(self) -> None:
        with self._lock:
            self._all.discard(self._own.worker)
        self._own.worker = None


class _Ended(Exception):
    """A worker that is no more: how it ended."""


class _Worker:
    """One process, used by one thread. Raises OSError where it cannot be made."""

    def __init__(self, setup: bytes) -> None:
        starter = Path(__file__).with_name("start_worker.py")
        command = [sys.executable, str(starter), json.dumps(sys.path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._input, self._output = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        self._ready = False
        self._unsent = setup

    def wait_until_ready(self) -> None:
        """Wait until it has loaded the entries. Raises `_Ended`."""
        if not self._ready:
            self._send(self._unsent)
            if self._output.readline() != READY:
                raise self._ended()
            self._ready = True

    def rows(self, jobs: Sequence[Job]) -> Iterator[bytes]:
        """The row of each job as it is done. Raises `_Ended`; a row that was not written whole is not given."""
        self._send(b"".join(map(job_line, jobs)))
        for _ in jobs:
            row = self._output.readline()
            if not row.endswith(b"\n"):
                raise self._ended()
            yield row

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()

    def _send(self, lines: bytes) -> None:
        try:
            self._input.write(lines)
            self._input.flush()
        except OSError as error:  # a broken pipe
            raise self._ended() from error

    def _ended(self) -> _Ended:
        code = self._process.wait()
        for pipe in (self._input, self._output):
            with suppress(OSError):  # what it did not take any more
                pipe.close()
        if code >= 0:
            return _Ended(f"ended with exit status {code}")
        try:
            return _Ended(f"was ended by {signal.Signals(-code).name}")
        except ValueError:
            return _Ended(f"was ended by signal {-code}")


def _without_interrupts() -> None:
    """Processes that this thread starts do not see Ctrl-C, which the terminal sends to all: the scan ends them."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _poisoned(job: Job, how: str) -> str:
    return (
        f"{printable(job.files[0])}: the process that read it {how}, twice (often because the system ran out of memory); "
        "look at it alone: troubleshoot FILE"
    )
