"""The processes of a probe: who they are, how much memory they hold, and their end.

A probe may fork workers, and a worker may leave its session or lose its parent. While a probe runs, this process is the
reaper of orphans (Linux), so whatever the probe leaves behind becomes our child and is found and ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Family", "Process", "processes", "reaper"]

_SET_REAPER, _GET_REAPER = 36, 37
_PAGE_KB = (os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096) // 1024
_DEAD = "ZX"


@dataclass(frozen=True)
class Process:
    pid: int
    parent: int
    session: int
    state: str
    resident_kb: int
    start: int


def processes() -> list[Process]:
    """All processes of this machine, from /proc; from ``ps`` where there is none; else nothing."""
    try:
        entries = os.listdir("/proc")
    except OSError:
        return _from_ps()
    found = []
    for entry in entries:
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                text = file.read()
        except OSError:
            continue
        fields = text[text.rindex(b")") + 2 :].split()
        resident = int(fields[21]) * _PAGE_KB
        state = fields[0].decode()
        found.append(Process(int(entry), int(fields[1]), int(fields[3]), state, resident, int(fields[19])))
    return found


def _from_ps() -> list[Process]:
    command = ["ps", "-axo", "pid=,ppid=,pgid=,stat=,rss="]
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    rows = (line.split() for line in text.splitlines())
    return [Process(int(r[0]), int(r[1]), int(r[2]), r[3][:1], int(r[4]), 0) for r in rows if len(r) == 5]


@contextlib.contextmanager
def reaper() -> Iterator[None]:
    """While inside, orphans of our descendants become our children (Linux); elsewhere this does nothing."""
    if not sys.platform.startswith("linux"):
        yield
        return
    import ctypes

    library = ctypes.CDLL(None)
    before = ctypes.c_int()
    library.prctl(_GET_REAPER, ctypes.byref(before), 0, 0, 0)
    library.prctl(_SET_REAPER, 1, 0, 0, 0)
    try:
        yield
    finally:
        library.prctl(_SET_REAPER, before.value, 0, 0, 0)


class Family:
    """A probe's process and everything that came from it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._own_session = os.getsid(0) if hasattr(os, "getsid") else -1
        self._known: set[tuple[int, int]] = set()
        self._birth: int | None = None
        self._since = time.time()
        self.seen = 0
        """How many processes of the probe were met, itself not counted."""

    def members(self) -> list[Process]:
        """The living ones, found by session, by parent, by acquaintance, and orphans that became our children."""
        everyone = processes()
        mine: dict[int, Process] = {}
        if self._birth is None:
            self._birth = next((p.start for p in everyone if p.pid == self.pid), None)
        for one in everyone:
            adopted = (
                one.parent == os.getpid()
                and one.session != self._own_session
                and self._birth is not None
                and one.start >= self._birth
            )
            if one.pid == self.pid or one.session == self.pid or (one.pid, one.start) in self._known or adopted:
                mine[one.pid] = one
        while more := [p for p in everyone if p.parent in mine and p.pid not in mine]:
            mine.update((p.pid, p) for p in more)
        before = len(self._known)
        self._known.update((p.pid, p.start) for p in mine.values() if p.pid != self.pid)
        self.seen += len(self._known) - before
        return [p for p in mine.values() if p.state not in _DEAD]

    def resident_mb(self) -> float:
        return sum(process.resident_kb for process in self.members()) / 1024

    def end(self, patience: float = 5.0) -> bool:
        """Kill them all and reap what is ours to reap; whether nobody is left."""
        if os.name == "nt":
            subprocess.run(["taskkill", "/T", "/F", "/PID", str(self.pid)], capture_output=True, check=False)
            return True
        deadline = time.monotonic() + patience
        shared: set[str] = set()
        while True:
            members = self.members()
            for process in members:  # stopped first, so that nobody forks while others are being killed
                _signal(process.pid, signal.SIGSTOP)
                shared |= _shared_memory(process.pid)
            for process in members:
                _signal(process.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self._reap()
            if not members or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        self._sweep(shared)
        return not members

    def _reap(self) -> None:
        for pid, _ in self._known:
            with contextlib.suppress(ChildProcessError, OSError):
                os.waitpid(pid, os.WNOHANG)

    def _sweep(self, held: set[str]) -> None:
        """Remove shared memory of killed workers: torch names its files after the process that made them."""
        pids = {self.pid, *(pid for pid, _ in self._known)}
        with contextlib.suppress(OSError):
            for path in Path("/dev/shm").iterdir():
                parts = path.name.split("_")
                if parts[0] == "torch" and len(parts) > 1 and parts[1].isdigit() and int(parts[1]) in pids:
                    held.add(str(path))
        for name in held:
            with contextlib.suppress(OSError):
                if os.stat(name).st_ctime >= self._since - 1:  # never what was there before the probe
                    os.unlink(name)


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _shared_memory(pid: int) -> set[str]:
    """Files under /dev/shm that a process has mapped or open."""
    found = set()
    with contextlib.suppress(OSError, ValueError):
        with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as file:
            found = {line.split(None, 5)[5].strip() for line in file if " /dev/shm/" in line}
        for link in os.scandir(f"/proc/{pid}/fd"):
            target = os.readlink(link.path)
            if target.startswith("/dev/shm/"):
                found.add(target)
    return {name for name in found if not name.endswith("(deleted)")}
