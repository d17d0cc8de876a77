"""Asking the hook of a process for its stacks, so that the process takes no harm.

Two signals do it. SIGUSR2 (or another one, if the program handles that itself) is answered at once, also inside of a blocking call, but it reads the
frames at any moment: those of a thread that runs may be half made then, and the process ends by a segmentation fault (about once in some hundred questions to a Python 3.11 that calls many functions). The
calm signal is answered by Python itself, between two instructions, but not while the main thread is in a call into C.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from troubleshooter.hook import CALM_OFFSET, SPARE_OFFSET
from troubleshooter.supervise.state import thread_cpu_s

_FUTEX = {"x86_64": 202, "aarch64": 98}
"""By machine: the number of the system call in which a thread waits for a lock."""
QUIET_TRIES, QUIET_SECONDS = 10, 0.01
"""So often, and after such a pause, it is looked whether no thread of the process runs."""
IN_C_SECONDS = 0.5
"""A process that used so much CPU time, and did not answer the calm signal, is in one long call into C, where its frames do not change."""


class Question(NamedTuple):
    """How a process was asked. ``calm``: by the calm signal, when its main thread had used ``cpu_s``. ``at``: when."""

    calm: bool
    cpu_s: float
    at: float


class AskedProcess:
    """A process of this machine, as /proc shows it, and the two ways to ask it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def can_be_asked(self) -> bool:
        """Whether it handles the signal. Its file of stacks alone does not prove it: an earlier process may have left the file."""
        return _handles(self.pid, self.at_once_signal())

    def at_once_signal(self) -> int:
        """SIGUSR2, or the spare signal of a program that handles SIGUSR2 itself."""
        spare = int(getattr(signal, "SIGRTMIN", 0)) + SPARE_OFFSET
        return spare if hasattr(signal, "SIGRTMIN") and _handles(self.pid, spare) else int(signal.SIGUSR2)

    def takes_calm(self) -> bool:
        """Whether it handles the calm signal and does not block it."""
        number = calm_signal()
        return _handles(self.pid, number) and not _mask(Path(f"/proc/{self.pid}/status"), "SigBlk:") >> (number - 1) & 1

    def main_runs(self) -> bool:
        """Whether its main thread runs, or would if it had a core."""
        return _runs(Path(f"/proc/{self.pid}/task/{self.pid}"))

    def any_runs(self) -> bool:
        """Whether any of its threads does."""
        return any(map(_runs, Path(f"/proc/{self.pid}/task").glob("*")))

    def main_waits_for_lock(self) -> bool:
        return self.pid in _waiting_for_locks(self.pid, self.at_once_signal())

    def cpu_s(self) -> float:
        """The CPU time that its main thread has used, in seconds; 0 if it is gone."""
        return thread_cpu_s(Path(f"/proc/{self.pid}/task/{self.pid}"))

    def ask_calmly(self) -> None:
        _send(self.pid, self.pid, calm_signal())

    def ask_at_once(self) -> None:
        """Send the signal to a thread that waits for a lock, if the process has one. Linux starts that wait again, whereas a signal cuts
        short a ``recv`` that already has a part of its bytes, a ``poll`` and a ``sleep``, even where the handler asks for a restart."""
        number = self.at_once_signal()
        thread = next(_waiting_for_locks(self.pid, number), None)
        if thread is None or not _send(self.pid, thread, number):
            os.kill(self.pid, number)


def ask(process: AskedProcess) -> Question:
    """Ask a process by SIGUSR2 when none of its threads runs, and by the calm signal if its main thread runs, or others always do."""
    takes_calm = process.takes_calm()
    calm = False
    for _ in range(QUIET_TRIES):
        calm = takes_calm and process.main_runs()
        if calm or not process.any_runs():
            break
        time.sleep(QUIET_SECONDS)
    else:
        calm = takes_calm and process.main_waits_for_lock()
    if calm:
        process.ask_calmly()
    else:
        process.ask_at_once()
    return Question(calm, process.cpu_s() if calm else 0.0, time.monotonic())


def insist(process: AskedProcess, question: Question, now: float) -> Question:
    """Ask by SIGUSR2 a process that did not answer the calm signal: it waits now, or is in one long call into C."""
    if not question.calm or now - question.at < IN_C_SECONDS:
        return question
    if process.main_runs() and process.cpu_s() - question.cpu_s < IN_C_SECONDS:
        return question  # it got no CPU to answer
    process.ask_at_once()
    return question._replace(calm=False)


def calm_signal() -> int:
    return int(signal.SIGRTMIN) + CALM_OFFSET


def _send(pid: int, thread: int, number: int) -> bool:
    """Send a signal to one thread. Whether it was sent."""
    import ctypes  # needed by a hang alone, and every `run` imports this module

    send = getattr(ctypes.CDLL(None), "tgkill", None)
    return send is not None and send(pid, thread, number) == 0


def _runs(task: Path) -> bool:
    """Whether a thread runs, or would if it had a core."""
    with suppress(OSError, IndexError):
        return (task / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"R"
    return False


def _waiting_for_locks(pid: int, number: int) -> Iterator[int]:
    """The threads of a process that wait for a lock and do not block a signal."""
    futex = _FUTEX.get(os.uname().machine)
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        with suppress(OSError, ValueError, IndexError):
            called = (task / "syscall").read_text().split()[0]
            if called == str(futex) and not _mask(task / "status", "SigBlk:") >> (number - 1) & 1:
                yield int(task.name)


def _mask(status: Path, name: str) -> int:
    """A set of signals in a file ``status`` of /proc."""
    return next((int(line.split()[1], 16) for line in status.read_text().splitlines() if line.startswith(name)), 0)


def _handles(pid: int, number: int) -> bool:
    with suppress(OSError, ValueError, IndexError):
        return bool(_mask(Path(f"/proc/{pid}/status"), "SigCgt:") >> (number - 1) & 1)
    return False
