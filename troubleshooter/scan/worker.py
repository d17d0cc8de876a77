"""A process that diagnoses jobs for a scan. It reads one job per line and writes the job's row of the record.

It ends when its standard input ends, even in the middle of a log, so it never outlives the scan. On Linux it also asks the
kernel to kill it when the scan dies.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from troubleshooter.outcome import outcome
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Source, Unreadable, from_path
from troubleshooter.scan import record
from troubleshooter.scan.job_list import Job

if TYPE_CHECKING:
    from troubleshooter.scan.places.opening import LogPlaces

READY = b"ready\n"
"""The first line that a worker prints, once it has loaded the entries."""
_PR_SET_PDEATHSIG = 1


class WorkerSetup(NamedTuple):
    """How each worker of a scan diagnoses."""

    entries: tuple[str, ...] = ()
    """Folders of the user's own entries."""
    ignore: dict[str, str] = {}  # noqa: RUF012 - nobody changes it
    """By the id of an entry that is left out: the reason."""
    copies: dict[str, str] = {}  # noqa: RUF012
    """By archive: the path of its unpacked copy."""
    history: bool = False
    """Whether rows hold what a history needs."""


def setup_line(setup: WorkerSetup) -> bytes:
    """The first line that a worker reads: the setup and the process id of its parent."""
    return json.dumps({**setup._asdict(), "parent": os.getpid()}).encode() + b"\n"


def job_line(job: Job) -> bytes:
    """A job as the line that a worker reads."""
    return json.dumps(asdict(job)).encode() + b"\n"


def main() -> None:
    """Diagnose the jobs on standard input until it ends."""
    rows = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # text that a library prints must not mix with the rows
    setup = json.loads(sys.stdin.buffer.readline())
    _end_with_parent(setup["parent"])
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    diagnoser = Diagnoser.load([Path(path) for path in setup["entries"]], ignore=setup["ignore"])
    gc.collect()
    gc.freeze()  # the entries live until the end: the garbage collector need not visit them
    sources = _sources_of(setup["copies"])
    line = READY
    while True:
        rows.write(line)
        rows.flush()
        given = json.loads(lines.get())
        job = Job(**{**given, "files": tuple(given["files"])})
        line = record.line_of(job, diagnose(job, diagnoser, sources, history=setup["history"]))


def diagnose(
    job: Job, diagnoser: Diagnoser, sources_of: Callable[[Job], list[Source]], *, history: bool = False
) -> dict[str, Any]:  # fmt: skip
    """The outcome of one job; with ``history``, the key ``run`` holds what a history needs. An error becomes the job's
    outcome, so that the other jobs go on."""
    try:
        sources = sources_of(job)
        if not history:
            return outcome(diagnoser.report(sources, top=3, brief=True))
        from troubleshooter.history.details import details, watched
        from troubleshooter.history.run_record import facts_of

        ends = watched(sources)
        report = diagnoser.report(sources, top=3, brief=True)
        return {**outcome(report), "run": facts_of(report, details(ends, time.time()))}
    except Unreadable as error:
        return record.failed(str(error), again=error.passes)
    except Exception as error:  # a bug that one log reveals must not lose the other logs
        return record.failed(f"{job.files[0]}: {type(error).__name__}: {error}")


def _sources_of(copies: dict[str, str]) -> Callable[[Job], list[Source]]:
    """A function that opens the files of a job. It imports `LogPlaces` only for the first job that is not a local log."""
    places: list[LogPlaces] = []

    def sources(job: Job) -> list[Source]:
        if not any("://" in file or "!/" in file for file in job.files):
            return [source for file in job.files for source in from_path(Path(file))]
        if not places:
            from troubleshooter.scan.places.opening import LogPlaces

            places.append(LogPlaces(copies=copies))
        return places[0].sources(job.files, job.modified)

    return sources


def _listen(lines: SimpleQueue[bytes]) -> None:
    """Read jobs while others are diagnosed. End the process when standard input ends: the scan is gone."""
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)


def _end_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when its parent ends (Linux only), even in the middle of a diagnosis."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # the parent ended before the kernel was asked
            os._exit(0)
