"""Write the state of a run's processes and of the GPUs, one line of JSON each minute. Nothing here blocks."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from troubleshooter.supervise.folder import append

EVERY_SECONDS = 60.0
MOST_PROCESSES = 128
GPU_SECONDS = 20.0
"""nvidia-smi is given up after this time. It hangs if the driver does."""
_GPU_QUERY = "index,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw"
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class ProcessState(NamedTuple):
    """What ``/proc`` says of a process. ``cpu_s``: seconds of CPU time so far. ``rss_mb``: memory in use, MiB. ``started``: in
    ticks since the machine started."""

    pid: int
    parent: int
    name: str
    state: str
    session: int
    cpu_s: float
    threads: int
    rss_mb: float
    started: int


def process(pid: int) -> ProcessState | None:
    """The state of one process; None if it has ended, or if there is no ``/proc``."""
    try:
        raw = Path(f"/proc/{pid}/stat").read_bytes()
        name, _, rest = raw.partition(b"(")[2].rpartition(b")")
        part = rest.split()
        return ProcessState(
            pid, int(part[1]), name.decode(errors="replace"), part[0].decode(), int(part[3]),
            round(_cpu_s(part), 2), int(part[17]), round(int(part[21]) * _PAGE / (1 << 20), 1),
            int(part[19]),
        )  # fmt: skip
    except (OSError, ValueError, IndexError):
        return None


def thread_cpu_s(task: Path) -> float:
    """The CPU time that a thread has used, in seconds; 0 if it is gone. ``task``: its folder below ``/proc``."""
    with suppress(OSError, IndexError, ValueError):
        return _cpu_s((task / "stat").read_bytes().rpartition(b")")[2].split())
    return 0.0


def _cpu_s(part: Sequence[bytes]) -> float:
    """Seconds in the program and in the kernel, out of the fields of a ``stat`` file behind the name."""
    return (int(part[11]) + int(part[12])) / _TICKS


def family(pid: int) -> list[ProcessState]:
    """A process and all its descendants, in the order of their ids, whatever their sessions: torchrun's workers have their own."""
    found: dict[int, ProcessState] = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdigit() and (one := process(int(name))) is not None:
                found[one.pid] = one
    below: dict[int, list[int]] = {}
    for one in found.values():
        below.setdefault(one.parent, []).append(one.pid)
    chosen, todo = [], [pid]
    while todo:
        number = todo.pop()
        if number in found:
            chosen.append(found.pop(number))
        todo += below.pop(number, ())
    return sorted(chosen)


class StateLog:
    """Writes the lines. ``nvidia-smi`` runs in the background, and its answer is written when it arrives."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._next = time.monotonic()
        self._smi = shutil.which("nvidia-smi")
        self._asked: subprocess.Popen[bytes] | None = None
        self._given_up = 0.0

    def tick(self, pid: int) -> None:
        """Write what is due."""
        now = time.monotonic()
        if self._asked is not None:
            self._hear(now)
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        shown = [
            {"pid": p.pid, "name": p.name, "state": p.state, "cpu_s": p.cpu_s, "threads": p.threads, "rss_mb": p.rss_mb}
            for p in family(pid)[:MOST_PROCESSES]
        ]
        append(self.path, {"time": round(time.time(), 1), "processes": shown, "memory_available_mb": _available()})
        if self._smi is not None and self._asked is None:
            with suppress(OSError):
                self._asked = subprocess.Popen(
                    [self._smi, f"--query-gpu={_GPU_QUERY}", "--format=csv,noheader,nounits"],
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                self._given_up = now + GPU_SECONDS

    def _hear(self, now: float) -> None:
        assert self._asked is not None
        if self._asked.poll() is None:
            if now > self._given_up:  # a process that hangs in the kernel cannot be killed, so no other is started
                self._asked.kill()
                self._smi = None
                if self._asked.stdout is not None:
                    self._asked.stdout.close()
                self._asked = None
            return
        assert self._asked.stdout is not None
        rows = self._asked.stdout.read(1 << 16).decode(errors="replace").splitlines()
        self._asked.stdout.close()
        names = ("index", "used_percent", "memory_mb", "memory_total_mb", "temperature_c", "power_w")
        gpus = [dict(zip(names, map(_number, row.split(",")), strict=False)) for row in rows if row.strip()]
        if gpus:
            append(self.path, {"time": round(time.time(), 1), "gpus": gpus})
        self._asked = None

    def close(self) -> None:
        """Leave no process of ours behind."""
        if self._asked is not None:
            with suppress(OSError):
                self._asked.kill()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _available() -> float | None:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable"):
                return round(int(line.split()[1]) / 1024, 1)
    return None
