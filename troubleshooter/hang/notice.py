"""Notices that a run hangs: it prints nothing, and two looks find each rank at the same place of its code, doing nothing."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from troubleshooter.hang.judge import HangVerdict, collective_of, is_own, judge, reads_network, runs_event_loop
from troubleshooter.hang.ranks import Rank, environment_of, numbers_of, ranks_of
from troubleshooter.hang.stacks import stacks_of
from troubleshooter.supervise.state import ProcessState, family

LEAST_SILENCE_SECONDS = 180.0
RHYTHM = 5.0
"""Without ``--hang-after`` the ranks are looked at after a silence that is `RHYTHM` times as long as the longest one so far, and never before `LEAST_SILENCE_SECONDS`."""
BETWEEN_SECONDS = 10.0
"""The time between two looks at the ranks. A rank hangs if it is at the same place both times and did nothing in between."""
MOVING = 0.05
"""A process that uses more than this share of a core is at work. So is one that reads or writes any byte."""
PATIENCE = 2.0
"""A rank that computes in a loop of the user's own code is reported after a silence this many times as long as usual."""
LEAST_WAKES = 2
"""A process that waits for the network, but woke up at least so often between two looks, receives its answer in small pieces."""
_ALONE = ("sleeping", "stopped")


class Look:
    """One look at all processes of a run."""

    def __init__(self, pid: int, folder: Path | None) -> None:
        self.at = time.monotonic()
        self.processes: Sequence[ProcessState] = family(pid)
        self.bytes = {one.pid: _bytes_moved(one.pid) for one in self.processes}
        self.woken_at_start = {one.pid: _times_woken(one.pid) for one in self.processes}
        self.stacks = stacks_of([one.pid for one in self.processes], folder)
        # Our question wakes a process, too.
        self.woken_at_end = {one.pid: _times_woken(one.pid) for one in self.processes}

    def cpu_since(self, before: Look) -> dict[int, float]:
        """By process: the share of a core that it used since an earlier look."""
        seconds = max(self.at - before.at, 0.1)
        earlier = {one.pid: one.cpu_s for one in before.processes}
        return {one.pid: (one.cpu_s - earlier.get(one.pid, one.cpu_s)) / seconds for one in self.processes}

    def wakes_since(self, before: Look, pid: int) -> int:
        """How often a process woke up between an earlier look and this one."""
        return self.woken_at_start.get(pid, 0) - before.woken_at_end.get(pid, 0)


class HangWatch:
    """Call `tick` about once a second with the seconds of silence so far.

    ``after``: the silence after which the ranks are looked at, in seconds; None derives it from the run's own rhythm.
    """

    def __init__(self, pid: int, folder: Path | None, after: float | None) -> None:
        self._pid = pid
        self._folder = folder
        self._after = after
        self._longest = 0.0
        self._silence = 0.0
        self._first: Look | None = None
        self._wait = BETWEEN_SECONDS
        self._looks = 0
        self._told = False

    def threshold(self) -> float:
        return self._after if self._after is not None else max(LEAST_SILENCE_SECONDS, RHYTHM * self._longest)

    def tick(self, silence: float) -> HangVerdict | None:
        """The verdict, once for each stall."""
        if silence < self._silence:  # it printed something
            self._longest = max(self._longest, self._silence)
            self._first, self._told, self._wait, self._looks = None, False, self._between(), 0
        self._silence = silence
        if self._told or silence < self.threshold():
            return None
        if self._first is None:
            self._wait = self._wait if self._looks else self._between()
            self._first = Look(self._pid, self._folder)
            return None
        if time.monotonic() - self._first.at < self._wait:
            return None
        before, now = self._first, Look(self._pid, self._folder)
        self._looks += 1
        verdict = verdict_on(before, now, patient=self._looks > 2 and silence > PATIENCE * self.threshold())
        if verdict is None:
            self._first, self._wait = now, min(2 * self._wait, 300.0)
            return None
        self._told = True
        return verdict

    def _between(self) -> float:
        return BETWEEN_SECONDS if self._after is None else min(BETWEEN_SECONDS, max(1.0, self._after / 3))


def verdict_on(before: Look, now: Look, *, patient: bool) -> HangVerdict | None:
    """The verdict of two looks, None if any rank made progress between them.

    ``patient``: the silence is so long that a rank which only computes in a loop of its own code counts as hung, too.
    """
    cpu = now.cpu_since(before)
    earlier = {rank.pid: rank for rank in ranks_of(before.processes, before.stacks)}
    ranks = ranks_of(now.processes, now.stacks, cpu)
    if not ranks or {rank.pid for rank in ranks} - earlier.keys():
        return None
    for rank in ranks:
        if rank.state in ("T", "t"):
            continue
        then = earlier[rank.pid]
        if not rank.stack and rank.state != "D":
            return None  # it did not answer yet, as one that starts or that gets no CPU: nobody knows where it stands
        same = rank.stack == then.stack
        if collective_of(rank.stack):
            if not same:
                return None
            continue
        pids = [rank.pid, *(one.pid for one in now.processes if one.parent == rank.pid)]
        wrote = any(now.bytes.get(pid) != before.bytes.get(pid) for pid in pids)
        busy = "R" in (rank.state, then.state) or any(cpu.get(pid, 0.0) > MOVING for pid in pids)
        if reads_network(rank) and now.wakes_since(before, rank.pid) >= LEAST_WAKES:
            return None  # a slow download: no counter tells the bytes that a process receives
        if wrote or ((busy or not same) and not (patient and _turns(then, rank))):
            return None
    verdict = judge(ranks, world_size(ranks))
    if set(verdict.missing) & numbers_of(now.processes):
        return None  # a rank that starts has no stack yet
    if not verdict.waiting and (verdict.cause in _ALONE or all(map(runs_event_loop, ranks))):
        return None  # a script that waits on purpose, a debugger, a loop whose next timer is far away
    return verdict


def _turns(before: Rank, now: Rank) -> bool:
    """Whether a rank runs a loop of its own code that calls nothing. An evaluation would mostly be seen inside of torch."""
    return (
        all(rank.stack and is_own(rank.stack[0]) for rank in (before, now))
        and before.stack[0].function == now.stack[0].function
    )


def world_size(ranks: Sequence[Rank]) -> int | None:
    """How many ranks this machine should have, if their environment tells."""
    for rank in ranks:
        environment = environment_of(rank.pid)
        local, whole = environment.get("LOCAL_WORLD_SIZE", ""), environment.get("WORLD_SIZE", "")
        if whole.isdecimal() and (local in ("", whole)):
            return int(whole)
    return None


def _bytes_moved(pid: int) -> Mapping[str, int]:
    """The bytes that a process has read from and written to disks so far. Stacks that we asked for are too small to count here."""
    with suppress(OSError, ValueError):
        rows = (line.split(":") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
        found = {name: int(value) for name, value in rows}
        return {name: found[name] for name in ("read_bytes", "write_bytes") if name in found}
    return {}


def _times_woken(pid: int) -> int:
    """How many times the main thread of a process has gone to sleep by itself so far; 0 if the system does not say."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("voluntary_ctxt_switches"):
                return int(line.partition(":")[2])
    return 0


def look_twice(pids: Sequence[int], folder: Path | None, between: float = 2.0) -> tuple[list[Rank], int | None]:
    """The ranks of these processes and of those below them, with the CPU time that they used meanwhile."""
    before = [one for pid in pids for one in family(pid)]
    at = time.monotonic()
    time.sleep(between)
    processes = sorted({one.pid: one for pid in pids for one in family(pid)}.values())
    earlier = {one.pid: one.cpu_s for one in before}
    seconds = time.monotonic() - at
    cpu = {one.pid: (one.cpu_s - earlier.get(one.pid, one.cpu_s)) / seconds for one in processes}
    ranks = ranks_of(processes, stacks_of([one.pid for one in processes], folder), cpu)
    return ranks, world_size(ranks)


def folder_of(pid: int) -> Path | None:
    """Where the hook of a process keeps its files, as its environment says."""
    named = environment_of(pid).get("TROUBLESHOOT_HOOK_DIR")
    return Path(named) if named and os.path.isdir(named) else None
