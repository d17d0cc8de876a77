"""One look at all processes of a run: where they stand, and what each has done so far."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.stacks import Stack, stacks_of
from troubleshooter.supervise.state import ProcessState, family, process, thread_cpu_s

SAMPLES = 12
"""So often in a row the stack of a process in a regular expression must be the same: of many short calls, some would be seen between two."""
THREADS_WAKE = 2.0
"""The threads of a process together wake up at least so often a second if they exchange messages. A thread that only looks after
something (a progress bar, a writer of events) wakes up less often; that of NCCL more often, but it belongs to ranks."""
LEAST_WAKES = 2
"""A process that waits for the network, but woke up at least so often between two looks, receives its answer in small pieces."""
MOST_WAKES = 100.0
"""The main thread of a rank in a collective that wakes up more often in a second looks whether it is done. One that wakes up less often, but
at least `LEAST_WAKES` times between two looks, went on from one collective to the next."""
_SPINS = "TP_"
"""So begin the names of the threads by which ranks call one another (TensorPipe). One of them looks without end whether there is something to do."""
_THREADS_OF_TORCH = ("gloo_", "pt_", "nccl", "NCCL", _SPINS)
"""How the names of threads begin that torch and the libraries of its collectives start."""
_WAITS_FOR_THREAD = re.compile(r".*/(?:threading|queue|concurrent/futures/_base)\.py$")
_SLEEPS = "voluntary_ctxt_switches"


class Counters(NamedTuple):
    """What a process has done so far. ``cpu_s``: seconds of CPU time, with those for which its main thread waited on a busy machine.
    Threads that look without end do not count. ``bytes``: read from and written to disks. ``wakes``: how often its main thread went to sleep by itself, and ``all_wakes``
    those of all threads but those of the collectives. What the system does not tell is 0."""

    cpu_s: float
    bytes: tuple[int, int]
    wakes: int
    all_wakes: int

    @classmethod
    def of(cls, pid: int) -> Counters:
        here = Path(f"/proc/{pid}")
        io = _fields(here / "io")
        wakes = {
            task.name: _fields(task / "status").get(_SLEEPS, 0)
            for task in here.glob("task/*")
            if not _is_of_torch(task)
        }
        state = process(pid)
        return cls(
            (state.cpu_s - _spun_s(here) if state is not None else 0.0) + _waited_for_cpu_s(here),
            (io.get("read_bytes", 0), io.get("write_bytes", 0)),
            wakes.get(str(pid), 0),
            sum(wakes.values()),
        )


def _is_of_torch(task: Path) -> bool:
    """Whether a thread belongs to the collectives. That of gloo wakes up a hundred times a second, whether or not anything happens."""
    with suppress(OSError):
        return (task / "comm").read_text().startswith(_THREADS_OF_TORCH)
    return False


def _spun_s(process_folder: Path) -> float:
    """The CPU time of the threads of a process that look without end whether there is something to do, in seconds."""
    found = 0.0
    for task in process_folder.glob("task/*"):
        with suppress(OSError, ValueError):
            if (task / "comm").read_text().startswith(_SPINS):
                found += thread_cpu_s(task)
    return found


def _waited_for_cpu_s(process_folder: Path) -> float:
    """The seconds for which the main thread of a process was ready to run and got no core."""
    with suppress(OSError, ValueError, IndexError):
        return int((process_folder / "schedstat").read_text().split()[1]) / 1e9
    return 0.0


def further_stacks(pid: int, folder: Path | None) -> list[Stack]:
    """The main thread of a process, asked `SAMPLES` times in a row. Moments at which it did not answer are left out."""
    answers = (stacks_of([pid], folder).get(pid) for _ in range(SAMPLES))
    return [answer[0] for answer in answers if answer]


NOTHING = Counters(0.0, (0, 0), 0, 0)


class Look:
    """One look at all processes of a run."""

    def __init__(self, pid: int, folder: Path | None) -> None:
        self.at = time.monotonic()
        self.folder = folder
        self.processes: Sequence[ProcessState] = family(pid)
        self.at_start = {one.pid: Counters.of(one.pid) for one in self.processes}
        self.stacks = stacks_of([one.pid for one in self.processes], folder)
        self.at_end = {one.pid: Counters.of(one.pid) for one in self.processes}
        self.ended = time.monotonic()

    def stands_still(self, pid: int, stack: Stack) -> bool:
        """Whether `SAMPLES` further questions find the main thread of a process at the same place."""
        return all(stacks_of([pid], self.folder).get(pid, [()])[0] == stack for _ in range(SAMPLES))

    def further_stacks(self, pid: int) -> list[Stack]:
        """The main thread of a process at `SAMPLES` further moments."""
        return further_stacks(pid, self.folder)

    def cpu_since(self, before: Look) -> dict[int, float]:
        """By process: the share of a core that it used between an earlier look and this one; 0 for one that is new."""
        seconds = max(self.at - before.ended, 0.1)
        return {
            pid: (found.cpu_s - before.at_end.get(pid, found).cpu_s) / seconds for pid, found in self.at_start.items()
        }

    def wakes_since(self, before: Look, pid: int) -> int:
        """How often the main thread of a process woke up between an earlier look and this one."""
        return self.at_start.get(pid, NOTHING).wakes - before.at_end.get(pid, NOTHING).wakes

    def receives_since(self, before: Look, rank: Rank) -> bool:
        """Whether a rank that waits for the network got pieces of its answer. If its main thread waits for the thread that reads, it may
        wake up by itself, and the others tell."""
        wakes = self.wakes_since(before, rank.pid)
        if rank.stack and _WAITS_FOR_THREAD.match(rank.stack[0].file.replace("\\", "/")):
            wakes = self.all_wakes_since(before, rank.pid) - wakes
        return wakes >= LEAST_WAKES

    def goes_on_since(self, before: Look, rank: Rank) -> bool:
        """Whether a rank that waits in a collective each time came through others between an earlier look and this one. If another thread than the
        main one waits there, nothing tells which, so all of them count."""
        wakes = self.wakes_since(before, rank.pid)
        if rank.by_thread:
            wakes = self.all_wakes_since(before, rank.pid) - wakes
        return LEAST_WAKES <= wakes <= MOST_WAKES * max(self.at - before.ended, 1.0)

    def threads_wake_since(self, before: Look, pid: int) -> bool:
        """Whether the threads of a process woke up more than `THREADS_WAKE` times a second between an earlier look and this one."""
        return self.all_wakes_since(before, pid) > THREADS_WAKE * max(self.at - before.ended, 1.0)

    def all_wakes_since(self, before: Look, pid: int) -> int:
        """How often all threads of a process woke up between an earlier look and this one."""
        return self.at_start.get(pid, NOTHING).all_wakes - before.at_end.get(pid, NOTHING).all_wakes

    def moved_bytes_since(self, before: Look, pid: int) -> bool:
        """Whether a process read from or wrote to a disk between an earlier look and this one."""
        return self.at_start.get(pid, NOTHING).bytes != before.at_end.get(pid, NOTHING).bytes

    def helpers_of(self, pid: int, others: Collection[int]) -> list[int]:
        """The processes below a process, without ``others`` and those below them."""
        found: list[int] = []
        todo = [pid]
        while todo:
            above = todo.pop()
            below = [one.pid for one in self.processes if one.parent == above and one.pid not in others]
            found += below
            todo += below
        return found


def _fields(path: Path) -> dict[str, int]:
    """The lines ``name: number`` of a file of /proc; empty if it cannot be read."""
    found: dict[str, int] = {}
    with suppress(OSError):
        for line in path.read_text(errors="replace").splitlines():
            name, _, value = line.partition(":")
            if value.strip().isdecimal():
                found[name] = int(value)
    return found
