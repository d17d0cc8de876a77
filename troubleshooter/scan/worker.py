"""A process that diagnoses jobs for a scan: a job a line on standard input, its row of the record on standard output.

It ends when its standard input ends, whatever it is doing: so it never outlives the scan, on any system. On Linux the
kernel ends it too.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Source, Unreadable, from_path
from troubleshooter.scan import record
from troubleshooter.scan.jobs import Job

READY = b"ready\n"
"""What a worker says first, when it has loaded the entries."""
_PR_SET_PDEATHSIG = 1


def setup_line(entries: list[Path], ignore: dict[str, str]) -> bytes:
    """The first line that a worker is sent: which entries, which of them to ignore, whose child it is."""
    setup = {"entries": [str(path) for path in entries], "ignore": ignore, "parent": os.getpid()}
    return json.dumps(setup).encode() + b"\n"


def job_line(job: Job) -> bytes:
    """A job as a worker is sent it."""
    return json.dumps(asdict(job)).encode() + b"\n"


def main() -> None:
    """Diagnose what comes on standard input until that ends."""
    rows = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no row
    setup = json.loads(sys.stdin.buffer.readline())
    _end_with_parent(setup["parent"])
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    diagnoser = Diagnoser.load([Path(path) for path in setup["entries"]], ignore=setup["ignore"])
    gc.collect()
    gc.freeze()  # the entries stay in memory: no search for garbage needs to look at them
    line = READY
    while True:
        rows.write(line)
        rows.flush()
        given = json.loads(lines.get())
        job = Job(**{**given, "files": tuple(given["files"])})
        line = record.line_of(job, diagnose(job, diagnoser))


def diagnose(job: Job, diagnoser: Diagnoser) -> dict[str, Any]:
    """The outcome of a job; whatever is wrong with its files stays its own trouble."""
    try:
        sources: list[Source] = [source for file in job.files for source in from_path(Path(file))]
        return record.outcome(diagnoser.report(sources, top=3, brief=True))
    except Unreadable as error:
        return record.failed(str(error))
    except Exception as error:  # a defect of ours on one log must not lose the other logs
        return record.failed(f"{job.files[0]}: {type(error).__name__}: {error}")


def _listen(lines: SimpleQueue[bytes]) -> None:
    """Take in jobs while others are diagnosed; end the process when nobody can send any more."""
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)


def _end_with_parent(parent: int) -> None:
    """Have the kernel end this process when its parent ends (Linux), be it in the middle of a search."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before this was asked for
            os._exit(0)
