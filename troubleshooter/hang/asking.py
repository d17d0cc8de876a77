"""Asking the hook of a process for its stacks, so that the process takes no harm.

Two signals do it. SIGUSR2 is answered at once, also inside of a blocking call, but it reads the frames at any moment: those of a thread that runs may be
half made then, and the process ends by a segmentation fault (about once in some hundred questions to a Python 3.11 that calls many functions). The
calm signal is answered by Python itself, between two instructions, but not while the main thread is in a call into C.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from troubleshooter.hook import CALM_OFFSET

_FUTEX = {"x86_64": 202, "aarch64": 98}
"""By machine: the number of the system call in which a thread waits for a lock."""
QUIET_TRIES, QUIET_SECONDS = 10, 0.01
"""So often, and after such a pause, it is looked whether no thread of the process runs."""
IN_C_SECONDS = 0.5
"""A process that used so much CPU time, and did not answer the calm signal, is in one long call into C, where its frames do not change."""
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Question(NamedTuple):
    """How a process was asked. ``calm``: by the calm signal, when its main thread had used ``cpu_s``. ``at``: when."""

    calm: bool
    cpu_s: float
    at: float


def can_ask(pid: int) -> bool:
    """Whether a process handles SIGUSR2. Its file of stacks alone does not prove it: an earlier process may have left the file."""
    return _handles(pid, signal.SIGUSR2)


def ask(pid: int) -> Question:
    """Ask a process by SIGUSR2 when none of its threads runs, and by the calm signal if its main thread runs, or others always do."""
    takes_calm = _takes_calm(pid)
    for _ in range(QUIET_TRIES):
        if takes_calm and _runs(Path(f"/proc/{pid}/task/{pid}")):
            return _ask_calmly(pid)
        if not any(map(_runs, Path(f"/proc/{pid}/task").glob("*"))):
            break
        time.sleep(QUIET_SECONDS)
    else:
        if takes_calm and pid in _waiting_for_locks(pid):
            return _ask_calmly(pid)
    _ask_at_once(pid)
    return Question(False, 0.0, time.monotonic())


def _ask_calmly(pid: int) -> Question:
    _send(pid, pid, calm_signal())
    return Question(True, _cpu_s(pid), time.monotonic())


def insist(pid: int, question: Question) -> Question:
    """Ask by SIGUSR2 a process that did not answer the calm signal: it waits now, or is in one long call into C."""
    if not question.calm or time.monotonic() - question.at < IN_C_SECONDS:
        return question
    if _runs(Path(f"/proc/{pid}/task/{pid}")) and _cpu_s(pid) - question.cpu_s < IN_C_SECONDS:
        return question  # it got no CPU to answer
    _ask_at_once(pid)
    return question._replace(calm=False)


def calm_signal() -> int:
    return int(signal.SIGRTMIN) + CALM_OFFSET


def _takes_calm(pid: int) -> bool:
    return _handles(pid, calm_signal()) and not _mask(Path(f"/proc/{pid}/status"), "SigBlk:") >> (calm_signal() - 1) & 1


def _ask_at_once(pid: int) -> None:
    """Send SIGUSR2 to a thread that waits for a lock, if the process has one. Linux starts that wait again, whereas a signal cuts short
    a ``recv`` that already has a part of its bytes, a ``poll`` and a ``sleep``, even where the handler asks for a restart."""
    thread = next(_waiting_for_locks(pid), None)
    if thread is None or not _send(pid, thread, int(signal.SIGUSR2)):
        os.kill(pid, signal.SIGUSR2)


def _send(pid: int, thread: int, number: int) -> bool:
    """Send a signal to one thread. Whether it was sent."""
    send = getattr(ctypes.CDLL(None), "tgkill", None)
    return send is not None and send(pid, thread, number) == 0


def _runs(task: Path) -> bool:
    """Whether a thread runs, or would if it had a core."""
    with suppress(OSError, IndexError):
        return (task / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"R"
    return False


def _cpu_s(pid: int) -> float:
    """The CPU time that the main thread of a process has used."""
    with suppress(OSError, IndexError, ValueError):
        part = Path(f"/proc/{pid}/task/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(part[11]) + int(part[12])) / _TICKS
    return 0.0


def _waiting_for_locks(pid: int) -> Iterator[int]:
    """The threads of a process that wait for a lock and do not block the signal."""
    futex = _FUTEX.get(os.uname().machine)
    for task in sorted(Path(f"/proc/{pid}/task").glob("*")):
        with suppress(OSError, ValueError, IndexError):
            called = (task / "syscall").read_text().split()[0]
            if called == str(futex) and not _mask(task / "status", "SigBlk:") >> (signal.SIGUSR2 - 1) & 1:
                yield int(task.name)


def _mask(status: Path, name: str) -> int:
    """A set of signals in a file ``status`` of /proc."""
    return next((int(line.split()[1], 16) for line in status.read_text().splitlines() if line.startswith(name)), 0)


def _handles(pid: int, number: int) -> bool:
    with suppress(OSError, ValueError, IndexError):
        return bool(_mask(Path(f"/proc/{pid}/status"), "SigCgt:") >> (number - 1) & 1)
    return False
