"""Notices that a run hangs: it prints nothing, and two looks find each rank at the same place of its code, doing nothing.

What counts as doing something: CPU time of the rank and of the processes below it (used, or waited for by the main thread), bytes
read from and written to disks, a main thread that wakes up again and again in a read from the network or in a collective. If no rank waits for
another one, threads that wake up again and again count, too. Each is compared between the end of one look and the start of
the next, because our question for the stacks wakes a process and lets it write, too.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from troubleshooter.hang.busy import (
    LOOP_PATIENCE,
    PATIENCE,
    is_long_awaited,
    looks_again,
    loops_in_own_code,
    matches_without_end,
)
from troubleshooter.hang.collectives import MEETING, OUTSIDE, POLLS, STORE, collective_of
from troubleshooter.hang.doing import asks_again, asks_for_its_end, reads_network, runs_event_loop, waits_outside
from troubleshooter.hang.endless import PackageLoop, package_loop
from troubleshooter.hang.failed import awaits_failing_pool, with_failed
from troubleshooter.hang.forming import with_forming
from troubleshooter.hang.judge import HangVerdict, judge, without_ranks
from troubleshooter.hang.look import Look, further_stacks
from troubleshooter.hang.parting import has_gone_on
from troubleshooter.hang.pipes import holds_all_below
from troubleshooter.hang.ranks import (
    OtherProcess,
    Rank,
    environment_of,
    failed_beside,
    is_of_loader,
    launcher_meets,
    numbers_of,
    others_of,
    ranks_of,
    without_helpers,
)
from troubleshooter.hang.recorded import with_recorded
from troubleshooter.hang.stacks import Stack, stacks_of
from troubleshooter.hang.standing import standing_of
from troubleshooter.hang.tasks import only_polls, with_tasks
from troubleshooter.hook import ENDED
from troubleshooter.supervise.state import ProcessState, family

LEAST_SILENCE_SECONDS = 180.0
RHYTHM = 5.0
"""Without ``--hang-after`` the ranks are looked at after a silence that is `RHYTHM` times as long as the longest one so far, and never before `LEAST_SILENCE_SECONDS`."""
BETWEEN_SECONDS = 10.0
"""The time between two looks at the ranks. A rank hangs if it is at the same place both times and did nothing in between."""
LEAST_BETWEEN_SECONDS = 2.0
"""However short ``--hang-after`` is: in one second a download that gets a piece every 0.7 s may show a single one."""
MOVING = 0.05
"""A process that uses more than this share of a core is at work. So is one that reads or writes any byte."""
MAKES_MB = 2.0
"""A rank whose memory grows by more than this between two looks at a loop makes something there: it reads a long document, or collects rows."""
MOST_PAST = 4
"""So many earlier looks of a silence are kept."""
_ALONE = ("sleeping", "stopped", "input")


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
        self._past: list[Look] = []
        self._wait = BETWEEN_SECONDS
        self._looks = 0
        self._told = False

    def threshold(self) -> float:
        return self._after if self._after is not None else max(LEAST_SILENCE_SECONDS, RHYTHM * self._longest)

    def tick(self, silence: float) -> HangVerdict | None:
        """The verdict, once for each stall."""
        if silence < self._silence:  # it printed something
            self._longest = max(self._longest, self._silence)
            self._first, self._told, self._wait, self._looks, self._past = None, False, self._between(), 0, []
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
        usual = max(self.threshold(), 0.1)
        patience = silence / usual if self._looks > 2 else 0.0
        verdict = verdict_on(before, now, patience=patience, past=self._past, usual=usual)
        if verdict is None:
            self._past = [*self._past, before][-MOST_PAST:]
            self._first, self._wait = now, min(2 * self._wait, 300.0)
            return None
        self._told = True
        return verdict

    def _between(self) -> float:
        return (
            BETWEEN_SECONDS
            if self._after is None
            else min(BETWEEN_SECONDS, max(LEAST_BETWEEN_SECONDS, self._after / 3))
        )


def verdict_on(
    before: Look, now: Look, *, patience: float = 0.0, past: Sequence[Look] = (), usual: float = 0.0
) -> HangVerdict | None:
    """The verdict of two looks, None if any rank made progress between them.

    ``patience``: how many times as long as usual the silence is. After `PATIENCE` and more a rank that computes counts as hung, too.
    ``past``: the looks of the same silence that came before, which began after ``usual`` seconds of it.
    """
    cpu = now.cpu_since(before)
    earlier = {rank.pid: rank for rank in ranks_of(before.processes, before.stacks)}
    ranks = ranks_of(now.processes, now.stacks, cpu)
    if not ranks and patience > PATIENCE and all(launcher_meets(one.processes, one.stacks) for one in (before, now)):
        return without_ranks(now.processes, now.stacks)
    if not ranks or {rank.pid for rank in ranks} - earlier.keys():
        return None
    is_awaited = any(collective_of(rank.stack) for rank in ranks)
    world = world_size(ranks)
    failed = failed_beside(now.processes, ranks)
    well = False if failed else ended_well(now, ranks, world)
    loops: list[PackageLoop] = []
    for rank in ranks:
        if rank.state in ("T", "t"):
            continue
        then = earlier[rank.pid]
        if not rank.stack and rank.state != "D" and not (rank.program and patience > PATIENCE):
            return None  # it did not answer yet, as one that starts or that gets no CPU: nobody knows where it stands
        same = rank.stack == then.stack or (not is_awaited and _still_waits_outside(then, rank))
        if collective := collective_of(rank.stack):
            if collective == POLLS and _still_polls(then, rank):
                continue
            if not same or (collective not in (MEETING, STORE) and now.goes_on_since(before, rank)):
                return None
            continue
        others = {other.pid for other in ranks}
        # A process that nobody waits for may be one of several that a shell started: `python make.py | sort`.
        below = now.helpers_of(rank.pid, others) if is_awaited else [one.pid for one in now.processes]
        helpers = [pid for pid in below if pid not in others]
        moves = [rank.pid, *helpers]
        if is_awaited and patience > PATIENCE and awaits_failing_pool(rank, now.at_start, now.folder):
            # New ones fail like those before them, and what these wrote counts as their rank's.
            moves = helpers = [pid for pid in helpers if pid in before.at_start]
        if any(now.moved_bytes_since(before, pid) for pid in moves):
            return None
        work = [
            one.pid
            for one in now.processes
            if one.pid in helpers and (cpu.get(one.pid, 0.0) > MOVING or one.state == "R")
        ]
        if work and not (is_awaited and patience > LOOP_PATIENCE and _workers_never_rest(work, [*past, before, now])):
            return None  # it waits for a process that works for it
        if (
            reads_network(rank)
            and now.receives_since(before, rank)
            and not (is_awaited and patience > PATIENCE and only_polls(rank, now.folder))
        ):
            return None  # a slow download: no counter tells the bytes that a process receives
        if asks_again(rank) and patience <= PATIENCE:
            return None  # a service that is at work for it
        if (
            not is_awaited
            and well is not False
            and now.threads_wake_since(before, rank.pid)
            and not _still_waits_outside(then, rank)
        ):
            return None  # its threads exchange messages
        busy = "R" in (rank.state, then.state) or cpu.get(rank.pid, 0.0) > MOVING
        if not busy and not same and (patience <= PATIENCE or not is_awaited or not looks_again(then, rank)):
            return None
        if (
            busy
            and is_awaited
            and patience > LOOP_PATIENCE
            and (loop := _loop_of(rank, ranks, [*past, before, now], usual))
        ):
            loops.append(loop)
            continue
        if busy and not (
            _never_rests(then, rank, patience, now)
            if is_awaited
            else matches_without_end(then, rank, patience, now.stands_still)
        ):
            return None
    first = without_helpers(ranks, now.processes)
    verdict = with_failed(judge(first, world, well, failed), first, now.folder)
    if len(first) < len(ranks):
        if _waits_on_purpose(verdict, first, now):
            verdict = with_failed(judge(ranks, world, well, failed), ranks, now.folder)
        else:
            verdict, ranks = verdict._replace(processes=_helpers(ranks, first, now.processes, now.stacks)), first
    if not verdict.late and not verdict.missing and any(one.collective == POLLS for one in verdict.waiting):
        return None  # ranks that poll all together may go on from one operation to the next
    if set(verdict.missing) & numbers_of(now.processes):
        return None  # a rank that starts has no stack yet
    if _waits_on_purpose(verdict, ranks, now):
        return None
    verdict = with_recorded(with_forming(verdict, now.folder), ranks, now.folder)
    return with_loops(with_tasks(verdict, now.folder), loops)


def _helpers(
    ranks: Sequence[Rank], first: Sequence[Rank], processes: Sequence[ProcessState], stacks: Mapping[int, list[Stack]]
) -> tuple[OtherProcess, ...]:
    """The processes that the first of these have started."""
    started = {rank.pid for rank in ranks} - {rank.pid for rank in first}
    return others_of([one for one in processes if one.pid in started], stacks)


def _waits_on_purpose(verdict: HangVerdict, ranks: Sequence[Rank], now: Look) -> bool:
    """Whether nobody waits for the late ranks, and they may wait for as long as they like: a script that sleeps, a debugger, a loop whose next timer is
    far away, or who looks after a server that it started."""
    if verdict.waiting and verdict.collective != OUTSIDE:
        return False
    if verdict.cause in _ALONE or all(map(runs_event_loop, ranks)):
        return True
    return verdict.cause == "child" and any(
        asks_for_its_end(one) and not holds_all_below(one.rank, now.processes) for one in verdict.late
    )


def _still_waits_outside(before: Rank, now: Rank) -> bool:
    """Whether a rank waits for the same lock or file as before, perhaps at another line of what asks for it."""
    one, other = standing_of(before), standing_of(now)
    return one.own is not None and one.own == other.own and waits_outside(one) and waits_outside(other)


def _still_polls(before: Rank, now: Rank) -> bool:
    """Whether a rank polls in the same loop as before, perhaps at another line of it."""
    return before.stack[1:] == now.stack[1:] and collective_of(before.stack) == POLLS


def _never_rests(then: Rank, rank: Rank, patience: float, now: Look) -> bool:
    """Whether a rank computes in such a way that it counts as hung, at further moments, too: two looks may find an evaluation between two calls."""
    return is_long_awaited(then, rank, patience) and all(
        is_long_awaited(then, rank._replace(stacks=(stack,)), patience) for stack in now.further_stacks(rank.pid)
    )


def _workers_never_rest(pids: Sequence[int], looks: Sequence[Look]) -> bool:
    """Whether these processes are workers of a data loader that all looks, and many further questions, found in one loop without end."""
    for pid in pids:
        stacks = [stack for look in looks if (found := look.stacks.get(pid)) and (stack := found[0])]
        memory = [one.rss_mb for look in looks[-2:] for one in look.processes if one.pid == pid]
        if len(stacks) < len(looks) or memory[-1] - memory[0] > MAKES_MB or not all(map(is_of_loader, stacks)):
            return False
        if not loops_in_own_code(stacks, goes_round=False) or not loops_in_own_code(
            [*stacks, *looks[-1].further_stacks(pid)]
        ):
            return False
    return True


def _loop_of(rank: Rank, ranks: Sequence[Rank], looks: Sequence[Look], usual: float) -> PackageLoop | None:
    """The loop of a package in which all looks found a rank, and many further questions do, too. What the rank did at an earlier line, as the import
    of the package, does not count, but then it must have been in the loop for as long as if the silence had begun there."""
    others = [other.stack for other in ranks if collective_of(other.stack)]
    while len(looks) > 2 and has_gone_on(looks[0].stacks.get(rank.pid, [()])[0], rank.stack):
        looks = looks[1:]
    if looks[-1].at - looks[0].at < (LOOP_PATIENCE - 1) * usual:
        return None
    stacks = [stack for look in looks if (found := look.stacks.get(rank.pid)) and (stack := found[0])]
    memory = [one.rss_mb for look in looks[-2:] for one in look.processes if one.pid == rank.pid]
    if memory[-1] - memory[0] > MAKES_MB or package_loop(stacks, others) is None:
        return None
    loop = package_loop([*stacks, *looks[-1].further_stacks(rank.pid)], others)
    return None if loop is None else loop._replace(rank=rank.number, seconds=time.monotonic() - looks[0].at)


def with_loops(verdict: HangVerdict, loops: Sequence[PackageLoop]) -> HangVerdict:
    """The verdict with the loops of packages that were found. If all late ranks are in one, they compute, whatever asked for it."""
    if not loops:
        return verdict
    in_loops = {one.rank.number for one in verdict.late} == {loop.rank for loop in loops}
    return verdict._replace(cause="computing" if in_loops else verdict.cause, loops=tuple(loops))


def ended_well(look: Look, ranks: Sequence[Rank], world: int | None) -> bool | None:
    """Whether the ranks that have no process any more ended well, as the hook's files tell. None if no rank is missing, or if they do not tell.

    The hook writes ``RANK-PID.crash.json`` when an exception ends a process, and removes ``PID.stacks`` when a process ends in order, or writes
    so at its end if it was asked for its stacks before.
    """
    if look.folder is None or not world or not all(rank.numbered for rank in ranks):
        return None
    gone = set(range(world)) - numbers_of(look.processes)
    if not gone:
        return None
    names = {path.name for path in look.folder.glob("*")}
    if any(name.endswith(".crash.json") and name.partition("-")[0] in map(str, gone) for name in names):
        return False
    alive = {f"{one.pid}.stacks" for one in look.processes if one.state != "Z"}
    if not names & alive or any(
        map(_is_cut_off, (look.folder / name for name in names - alive if name.endswith(".stacks")))
    ):
        return None  # there is no hook, or something was killed
    return True


def _is_cut_off(stacks: Path) -> bool:
    """Whether a file of stacks belongs to a process that did not end in order."""
    with suppress(OSError):
        return not stacks.read_bytes().endswith(ENDED)
    return False


def world_size(ranks: Sequence[Rank]) -> int | None:
    """How many ranks this machine should have, if their environment tells."""
    for rank in ranks:
        environment = environment_of(rank.pid)
        local, whole = environment.get("LOCAL_WORLD_SIZE", ""), environment.get("WORLD_SIZE", "")
        if whole.isdecimal() and (local in ("", whole)):
            return int(whole)
    return None


def verdict_now(pids: Sequence[int], folder: Path | None, between: float = 2.0) -> HangVerdict | None:
    """Where these processes and those below them stand, with the CPU time that they use meanwhile. None if no stack can be read."""
    before = [one for pid in pids for one in family(pid)]
    at = time.monotonic()
    time.sleep(between)
    processes = sorted({one.pid: one for pid in pids for one in family(pid)}.values())
    earlier = {one.pid: one.cpu_s for one in before}
    seconds = time.monotonic() - at
    cpu = {one.pid: (one.cpu_s - earlier.get(one.pid, one.cpu_s)) / seconds for one in processes}
    stacks = stacks_of([one.pid for one in processes], folder)
    ranks = ranks_of(processes, stacks, cpu)
    if not ranks:
        return without_ranks(processes, stacks) if stacks else None
    failed = failed_beside(processes, ranks)
    first = without_helpers(ranks, processes)
    verdict = with_failed(judge(first, world_size(ranks), False if failed else None, failed), first, folder)
    if len(first) < len(ranks):
        verdict, ranks = verdict._replace(processes=_helpers(ranks, first, processes, stacks)), first
    verdict = with_tasks(with_recorded(with_forming(verdict, folder), ranks, folder), folder)
    waiting = [one.rank.stack for one in verdict.waiting]
    asked = time.monotonic()
    loops: list[PackageLoop] = []
    for rank in (one.rank for one in verdict.late if one.rank.cpu > MOVING):
        taken = [rank.stack, *further_stacks(rank.pid, folder)] if package_loop([rank.stack], waiting) else []
        if loop := package_loop(taken, waiting):
            loops.append(loop._replace(rank=rank.number, seconds=time.monotonic() - asked))
    return with_loops(verdict, loops)


def folder_of(pid: int) -> Path | None:
    """Where the hook of a process keeps its files, as its environment says."""
    named = environment_of(pid).get("TROUBLESHOOT_HOOK_DIR")
    return Path(named) if named and os.path.isdir(named) else None
