"""The stacks of Python processes. A signal asks the hook for them; py-spy is asked where a process has no hook."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ANSWER_SECONDS = 5.0
"""How long to wait for the hook's answer. A process that is stopped, or blocked in the kernel, does not answer."""
PY_SPY_SECONDS = 15.0
MAX_BYTES = 1 << 20
_THREAD = re.compile(
    r"(?P<current>Current t|T)hread (?P<id>0x[0-9a-f]{1,16})(?: \[[^\]]{0,40}\])? \(most recent call first\):"
)
_FRAME = re.compile(r'\s*File "(?P<file>[^"]{1,1000})", line (?P<line>\d{1,9}|\?{1,3})(?: in (?P<function>.{1,300}))?$')
_SPY_THREAD = re.compile(r"Thread \S{1,40} \((?P<state>[^)]{1,40})\)(?:: \"(?P<name>[^\"]{0,80})\")?")
_SPY_FRAME = re.compile(r"\s{1,12}(?P<function>.{1,300}?) \((?P<file>[^()]{1,1000}):(?P<line>\d{1,9})\)$")


class StackFrame(NamedTuple):
    """One frame of a thread's stack."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}, {self.function}"


Stack = tuple[StackFrame, ...]
"""The frames of a thread, the innermost first."""


def stacks_of(pids: Sequence[int], folder: Path | None) -> dict[int, list[Stack]]:
    """By process: the stacks of its threads, the main thread's first. Stacks without information are left out.

    ``folder``: where the hook keeps a file for each process that it is in. Only those are sent the signal: it would end any
    other process. All are asked at once, so that their answers belong to one moment.
    """
    places: dict[int, tuple[Path, int]] = {}
    for pid in pids:
        path = folder / f"{pid}.stacks" if folder is not None else None
        if path is None or not _handles_signal(pid):
            continue
        with suppress(OSError):
            places[pid] = path, path.stat().st_size
            _ask(pid)
    found: dict[int, list[Stack]] = {}
    deadline = time.monotonic() + ANSWER_SECONDS
    sizes: dict[int, int] = {}
    while places.keys() - found.keys() and time.monotonic() < deadline:
        time.sleep(0.1)
        for pid in places.keys() - found.keys():
            path, start = places[pid]
            with suppress(OSError):
                size = path.stat().st_size
                if size > start and sizes.get(pid) == size:  # it does not grow any more
                    with path.open("rb") as file:
                        file.seek(start)
                        found[pid] = read_dump(file.read(MAX_BYTES).decode("utf-8", "replace"))
                sizes[pid] = size
    for pid in pids:
        if pid not in found and (answer := _spied(pid)):
            found[pid] = answer
    return {pid: stacks for pid, stacks in found.items() if stacks}


_FUTEX = {"x86_64": 202, "aarch64": 98}
"""By machine: the number of the system call in which a thread waits for a lock."""


def _ask(pid: int) -> None:
    """Send SIGUSR2 to a thread that waits for a lock, if the process has one. Linux starts that wait again, whereas a signal cuts short
    a ``recv`` that already has a part of its bytes, a ``poll`` and a ``sleep``, even where the handler asks for a restart."""
    import ctypes  # needed by a hang alone

    thread = next(_waiting_for_locks(pid), None)
    send = getattr(ctypes.CDLL(None), "tgkill", None) if thread is not None else None
    if send is None or send(pid, thread, int(signal.SIGUSR2)) != 0:
        os.kill(pid, signal.SIGUSR2)


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


def _handles_signal(pid: int) -> bool:
    """Whether a process handles the signal. Its file of stacks alone does not prove it: an earlier process may have left the file."""
    with suppress(OSError, ValueError, IndexError):
        return bool(_mask(Path(f"/proc/{pid}/status"), "SigCgt:") >> (signal.SIGUSR2 - 1) & 1)
    return False


def read_dump(text: str) -> list[Stack]:
    """The stacks of a dump by `faulthandler`: its last thread is the main one, and comes first here."""
    stacks: list[list[StackFrame]] = []
    for line in text.splitlines():
        if _THREAD.match(line):
            stacks.append([])
        elif stacks and (frame := _FRAME.match(line)):
            number = int(frame["line"]) if frame["line"].isdigit() else 0
            stacks[-1].append(StackFrame(frame["file"], number, frame["function"] or ""))
    return [tuple(stack) for stack in reversed(stacks)]


def _spied(pid: int) -> list[Stack]:
    """What py-spy prints of a process; nothing if it is not installed or not allowed to look."""
    program = shutil.which("py-spy")
    if program is None:
        return []
    try:
        said = subprocess.run(
            [program, "dump", "--nonblocking", "--pid", str(pid)],
            stdin=subprocess.DEVNULL, capture_output=True, timeout=PY_SPY_SECONDS, check=False,
        ).stdout  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return []
    return read_py_spy(said[:MAX_BYTES].decode("utf-8", "replace"))


def read_py_spy(text: str) -> list[Stack]:
    """The stacks of ``py-spy dump``, the main thread's first."""
    found: list[tuple[bool, list[StackFrame]]] = []
    for line in text.splitlines():
        if thread := _SPY_THREAD.match(line):
            found.append((thread["name"] == "MainThread", []))
        elif found and (frame := _SPY_FRAME.match(line)):
            found[-1][1].append(StackFrame(frame["file"], int(frame["line"]), frame["function"]))
    return [tuple(stack) for _, stack in sorted(found, key=lambda one: not one[0])]
