"""The parent of a probe. It starts the probe, watches all processes of it, and ends them all, however the tool itself ends.

Run as a program of its own (``python -I -S supervisor.py FOLDER CONTROL STATUS PROGRAM ARGUMENT...``), in a session of its own, with
two pipes from the tool. Nothing is ever written to CONTROL: the tool holds its other end, so the system closes it when the tool
ends, also by SIGKILL, and then the probe with all its descendants is killed and its folder removed. STATUS takes JSON
lines: ``{"mb", "met"}`` while the probe runs, ``{"exit"}`` or ``{"failed"}``, at the end ``{"clean", "met", "listed"}``.

A probe may fork workers, and a worker may leave its session or lose its parent. On Linux orphans become children of this
process, so that all of them are found. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

__all__ = ["main", "remove"]

_SET_REAPER = 36
_DEAD = "ZX"
_PATIENCE = 5.0
"""Killing may take this many seconds: a process in an uninterruptible wait ends only when the wait is over."""


class Process(NamedTuple):
    pid: int
    parent: int
    session: int
    state: str
    resident_kb: int
    start: int


def processes() -> list[Process]:
    """All processes of this machine, from /proc, else from ``ps``; empty if neither is there."""
    try:
        entries = os.listdir("/proc")
    except OSError:
        return _from_ps()
    page_kb = os.sysconf("SC_PAGE_SIZE") // 1024
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
        resident = int(fields[21]) * page_kb
        found.append(Process(int(entry), int(fields[1]), int(fields[3]), fields[0].decode(), resident, int(fields[19])))
    return found


def _from_ps() -> list[Process]:
    import subprocess

    command = ["ps", "-axo", "pid=,ppid=,pgid=,stat=,rss="]
    try:
        text = subprocess.run(command, capture_output=True, text=True, check=False, timeout=5).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    rows = (line.split() for line in text.splitlines())
    return [Process(int(r[0]), int(r[1]), int(r[2]), r[3][:1], int(r[4]), 0) for r in rows if len(r) == 5]


def resident_mb(members: list[Process]) -> float:
    """The memory that processes hold together, in MB. Pages that a fork shares with its parent are there only once, so of
    several processes each one's proportional share counts where the system tells it (Linux), else its resident size."""
    if len(members) == 1:
        return members[0].resident_kb / 1024
    return sum(_share_kb(one) for one in members) / 1024


def _share_kb(process: Process) -> int:
    """The process's resident size, with each page divided by the number of processes that hold it."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{process.pid}/smaps_rollup", "rb") as file:
        for line in file:
            if line.startswith(b"Pss:"):
                return int(line.split()[1])
    return process.resident_kb


class Family:
    """A probe's process and everything that came from it."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.known: set[tuple[int, int]] = set()
        """All processes that were ever seen, by number and start time, without the probe itself."""
        self.listed = False
        """Whether this system can list processes."""
        self._since = time.time()

    def members(self) -> list[Process]:
        """The processes that are alive: our descendants (orphans become ours), those of the probe's session, and those seen before."""
        everyone = processes()
        self.listed = self.listed or bool(everyone)
        mine = {
            one.pid: one
            for one in everyone
            if one.parent == os.getpid() or one.session == self.pid or (one.pid, one.start) in self.known
        }
        while more := [p for p in everyone if p.parent in mine and p.pid not in mine]:
            mine.update((p.pid, p) for p in more)
        self.known.update((p.pid, p.start) for p in mine.values() if p.pid != self.pid)
        return [p for p in mine.values() if p.state not in _DEAD]

    def end(self) -> bool:
        """Kill and reap all of them. Returns whether none is left."""
        deadline = time.monotonic() + _PATIENCE
        shared: set[str] = set()
        while True:
            members = self.members()
            for process in members:  # all are stopped first, so that none forks while others are killed
                _signal(process.pid, signal.SIGSTOP)
                shared |= _shared_memory(process.pid)
            for process in members:
                _signal(process.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            reap()
            if not members or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        self._sweep(shared)
        return not members

    def _sweep(self, held: set[str]) -> None:
        """Remove the shared memory of killed workers. torch names its files after the process that made them."""
        pids = {self.pid, *(pid for pid, _ in self.known)}
        with contextlib.suppress(OSError):
            for path in Path("/dev/shm").iterdir():
                parts = path.name.split("_")
                if parts[0] == "torch" and len(parts) > 1 and parts[1].isdigit() and int(parts[1]) in pids:
                    held.add(str(path))
        for name in held:
            with contextlib.suppress(OSError):
                if os.stat(name).st_ctime >= self._since - 1:  # older files are not the probe's
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


def reap() -> dict[int, int]:
    """The exit codes of children that ended, by number; negative for the number of the signal that ended them."""
    ended = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            ended[pid] = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    return ended


def remove(folder: Path) -> None:
    """Remove a probe's folder, including what the probe made unreadable."""

    def again(function: Callable[[str], object], path: str, _: object) -> None:
        with contextlib.suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            function(path)

    shutil.rmtree(folder, onerror=again)
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


class _Status:
    """Send a message to the tool, which may have ended."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)  # a tool that is stopped (Ctrl-Z) reads nothing; do not wait for it

    def say(self, **fields: object) -> None:
        with contextlib.suppress(OSError):
            os.write(self.descriptor, json.dumps(fields).encode() + b"\n")


def _start(program: list[str], control: int, status: int) -> int:
    """Start the probe in a session of its own; the number of its process."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        os.close(control)
        os.set_inheritable(status, False)
        os.execvp(program[0], program)
    except OSError as problem:
        _Status(status).say(failed=problem.strerror or str(problem))
    finally:
        os._exit(127)


def _follow_orphans() -> None:
    if sys.platform.startswith("linux"):
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_REAPER, 1, 0, 0, 0)


def main(arguments: list[str]) -> int:
    """Returns 0 when nothing of the probe is left."""
    folder, control = Path(arguments[0]), int(arguments[1])
    status = _Status(int(arguments[2]))
    _follow_orphans()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # the end of the tool ends us; SIG_IGN would be inherited
    pid = _start(arguments[3:], control, status.descriptor)
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    for descriptor in map(int, os.listdir("/dev/fd")) if os.path.isdir("/dev/fd") else ():
        if descriptor > 2 and descriptor not in (control, status.descriptor):
            with contextlib.suppress(OSError):
                os.close(descriptor)  # the probe's own channel: the tool must see when the probe closes it
    family = Family(pid)
    look, pause, running = 0.0, 0.1, True
    while not select.select([control], [], [], 0.02)[0]:
        if running and (code := reap().get(pid)) is not None:
            running = False
            status.say(exit=code)
        if running and time.monotonic() - look >= pause:
            look = time.monotonic()
            status.say(mb=round(resident_mb(family.members()), 1), met=len(family.known))
            pause = max(0.1, 20 * (time.monotonic() - look))  # a list of very many processes is made less often
    clean = family.end()
    remove(folder)
    status.say(clean=clean, met=len(family.known), listed=family.listed)
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
