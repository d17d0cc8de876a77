"""The ranks among the processes of a run, and what each of them does: CPU, state, where the kernel holds it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from troubleshooter.hang.collectives import POLLS, collective_of, serves
from troubleshooter.hang.launched import is_in_group, launched
from troubleshooter.hang.stacks import Stack, StackFrame
from troubleshooter.supervise.state import ProcessState

_HELPERS = ("resource_tracker", "forkserver", "torch/_inductor/compile_worker", "wandb-core", "wandb-service")
_LAUNCHES = (
    "torch/distributed/elastic/agent",
    "torch/distributed/launcher",
    "accelerate/commands/launch",
    "torch/multiprocessing/spawn",
)
_RUNS_A_RANK = "_wrap"
"""The function of ``torch/multiprocessing/spawn.py`` that each process runs which it starts."""
_AWAITS = ("multiprocessing/popen_fork", "/subprocess.py")
"""Files in which a process waits for one that it started: as a launcher does, or a rank that runs a program."""
_LOADS = "torch/utils/data/_utils/worker"
_OF_THREADS = re.compile(r".*/python3(?:\.\d+)?/(?:threading|queue|concurrent/futures/_base)\.py$")
"""Python's own files in which a thread waits for another one."""
_ENDS_OF_THREADS = frozenset(("join", "result", "_wait_for_tstate_lock"))


class Rank(NamedTuple):
    """One rank: its number (of its environment, else by the order of start), its process and its stacks.

    ``numbered``: whether the environment gives the number. ``cpu``: CPU time in use while it was watched, as a share of one
    core. ``workers``: the stacks of the main threads of its data loader workers. ``awaits_program``: whether an event loop
    of it will be told when a program that it started ends. ``program``: the name of another program than Python that the rank's process runs.
    ``by_thread``: whether its first stack is that of a thread for which its main thread waits. ``tasks``: where the tasks of its event loop stand, if asked.
    """

    number: int
    numbered: bool
    pid: int
    state: str
    stacks: tuple[Stack, ...]
    workers: tuple[Stack, ...] = ()
    cpu: float = 0.0
    kernel: str = ""
    awaits_program: bool = False
    program: str = ""
    by_thread: bool = False
    tasks: tuple[Stack, ...] = ()

    @property
    def stack(self) -> Stack:
        """The main thread's frames, the innermost first; those of what it runs for another rank, if it waits until nobody calls it any more; those of a
        thread that waits in a collective, if it waits for that."""
        return self.stacks[0] if self.stacks else ()


class OtherProcess(NamedTuple):
    """A process of a run that has no rank: a launcher, what it started. ``stack``: its main thread's, if it told."""

    pid: int
    name: str
    state: str
    kernel: str
    stack: Stack


MOST_OTHERS = 32


def others_of(processes: Iterable[ProcessState], stacks: Mapping[int, list[Stack]]) -> tuple[OtherProcess, ...]:
    """What processes a run has, for one of which no rank is known."""
    return tuple(
        OtherProcess(one.pid, one.name, one.state, held_by_kernel(one.pid), (stacks.get(one.pid) or [()])[0])
        for one in sorted(processes)[:MOST_OTHERS]
    )


def ranks_of(
    processes: Iterable[ProcessState], stacks: Mapping[int, list[Stack]], cpu: Mapping[int, float] | None = None
) -> list[Rank]:
    """The ranks, in their order. Launchers, data loader workers and helpers are none; a lone process is rank 0."""
    known = {one.pid: one for one in processes}
    chosen: list[tuple[int | None, ProcessState]] = []
    workers: dict[int, list[Stack]] = {}
    awaiting: list[ProcessState] = []
    for one in sorted(known.values()):
        found = stacks.get(one.pid) or ([()] if one.state in ("T", "t") and _number(one.pid) is not None else None)
        if found is None or any(word in _words(one.pid) for word in _HELPERS):
            continue
        if is_of_loader(found[0]):
            workers.setdefault(one.parent, []).append(found[0])
        elif _stands_in(found[0], _AWAITS):
            awaiting.append(one)
        elif not _stands_in([frame for frame in found[0] if frame.function != _RUNS_A_RANK], _LAUNCHES):
            chosen.append((_number(one.pid), one))
    chosen += [
        (number, one)
        for one in awaiting
        if (number := _number(one.pid)) is not None
        and (is_in_group(one.pid) or not _has_ranks(one, number, chosen, known, stacks))
    ]
    chosen.sort(key=lambda pair: pair[1])
    elsewhere: dict[int, ProcessState] = {}
    if any(
        number is not None for number, _ in chosen
    ):  # launchers have no number; what a rank started has the same one
        first: dict[int, ProcessState] = {}
        for number, one in chosen:
            if number is not None:
                first.setdefault(number, one)
        elsewhere = _without_python([one for one in known.values() if one.pid not in stacks and one.state != "Z"])
        chosen = [*{**elsewhere, **first}.items()]
    numbered = bool(chosen) and chosen[0][0] is not None
    if not numbered and (of_script := launched([one.pid for _, one in chosen], known)) is not None:
        chosen = [(of_script.places[one.pid], one) for _, one in chosen if one.pid in of_script.places]
    ranks = [
        Rank(
            place if number is None else number, numbered, one.pid, one.state,
            _told_first(stacks.get(one.pid, ())), tuple(workers.get(one.pid, ())), (cpu or {}).get(one.pid, 0.0), held_by_kernel(one.pid),
            _awaits_program(one.pid, stacks.get(one.pid, ())), one.name if number is not None and elsewhere.get(number) == one else "",
        )
        for place, (number, one) in enumerate(chosen)
    ]  # fmt: skip
    anywhere = not any(collective_of(rank.stack) for rank in ranks)
    return sorted(_told_by_thread(rank, anywhere) for rank in ranks)


def _told_by_thread(rank: Rank, anywhere: bool) -> Rank:
    """The rank, told by a thread of its own that waits in a collective, if its main thread waits for that one to end. ``anywhere``: also if it waits for
    anything that threads do, as no main thread is in a collective: the training runs beside it."""
    inner = rank.stack[:3]
    if not inner or not _OF_THREADS.match(inner[0].file.replace("\\", "/")):
        return rank
    if not anywhere and not any(frame.function in _ENDS_OF_THREADS for frame in inner):
        return rank
    meets = [stack for stack in rank.stacks[1:] if collective_of(stack) not in ("", POLLS)]
    return rank._replace(stacks=(min(meets), *rank.stacks), by_thread=True) if meets else rank


def _without_python(processes: Iterable[ProcessState]) -> dict[int, ProcessState]:
    """By number: the first process of each rank of which no process runs Python: a script has not come to start it, or its process runs another program."""
    found: dict[int, list[ProcessState]] = {}
    for one in sorted(processes):
        if (number := _number(one.pid)) is not None:
            found.setdefault(number, []).append(one)
    return {number: those[0] for number, those in found.items() if not any(runs_python(one.pid) for one in those)}


def runs_python(pid: int) -> bool:
    """Whether a process runs Python, or may: nothing tells what it runs."""
    try:
        if "py" in os.path.basename(os.readlink(f"/proc/{pid}/exe")):
            return True
        return "libpython" in Path(f"/proc/{pid}/maps").read_text(errors="replace")
    except OSError:
        return True


def _told_first(stacks: Sequence[Stack]) -> tuple[Stack, ...]:
    """The stacks of a process, first the one that tells where it stands. A rank that waits for others may run a function in another thread that they
    have called, and wait for something else there."""
    serving = [stack for stack in stacks[1:] if serves(stack) and not collective_of(stack)]
    return (min(serving), *stacks) if serving and collective_of(stacks[0]) else tuple(stacks)


def without_helpers(ranks: Sequence[Rank], processes: Iterable[ProcessState]) -> list[Rank]:
    """The ranks without those that another one of them has started, if nothing numbers them and none waits for others: a script alone, and what it
    started."""
    if any(rank.numbered or collective_of(rank.stack) for rank in ranks):
        return [*ranks]
    above = {one.pid: one.parent for one in processes}
    pids = {rank.pid for rank in ranks}
    first = [rank for rank in ranks if not any(pid in pids for pid in _those_above(rank.pid, above))]
    return [*ranks] if len(first) == len(ranks) else [rank._replace(number=at) for at, rank in enumerate(first)]


def _those_above(pid: int, above: Mapping[int, int]) -> Iterator[int]:
    while (pid := above.get(pid, 0)) in above:
        yield pid


def failed_beside(processes: Iterable[ProcessState], ranks: Sequence[Rank]) -> frozenset[int]:
    """The numbers of ranks that failed or were killed, if the script that started them has not noticed it."""
    if any(rank.numbered for rank in ranks):
        return frozenset()
    of_script = launched([rank.pid for rank in ranks], {one.pid: one for one in processes})
    return frozenset() if of_script is None else of_script.failed


def launcher_meets(processes: Iterable[ProcessState], stacks: Mapping[int, list[Stack]]) -> bool:
    """Whether a launcher of torch waits for those of other nodes, so that no rank has started."""
    return any(
        frame.function == "next_rendezvous" and "torch/distributed/elastic/rendezvous/" in frame.file.replace("\\", "/")
        for one in processes for frame in stacks.get(one.pid, [()])[0]
    )  # fmt: skip


def is_of_loader(stack: Stack) -> bool:
    """Whether this is the stack of a worker of a data loader."""
    return any(_LOADS in frame.file.replace("\\", "/") for frame in stack)


def _stands_in(stack: Sequence[StackFrame], files: Sequence[str]) -> bool:
    return any(word in frame.file.replace("\\", "/") for frame in stack[:6] for word in files)


def _has_ranks(
    one: ProcessState,
    number: int,
    chosen: Iterable[tuple[int | None, ProcessState]],
    known: Mapping[int, ProcessState],
    stacks: Mapping[int, list[Stack]],
) -> bool:
    """Whether a process that waits for what it started is a launcher: ranks of other numbers are below it, or one that waits in a
    collective. A scheduler gives a launcher a number, too, and a program that a rank runs has the rank's."""
    for other_number, other in chosen:
        above = known.get(other.parent)
        while above is not None and above.pid != one.pid:
            above = known.get(above.parent)
        if above is None:
            continue
        told = stacks.get(other.pid)  # a stopped process tells nothing
        if other_number != number or (told and collective_of(told[0])):
            return True
    return False


def _awaits_program(pid: int, stacks: Iterable[Stack]) -> bool:
    """Whether asyncio watches a program that a process started: a thread waits for it, or, since Python 3.12, there is a descriptor of it."""
    if any(frame.function == "_do_waitpid" for stack in stacks for frame in stack):
        return True
    with suppress(OSError):
        return any(os.readlink(place.path) == "anon_inode:[pidfd]" for place in os.scandir(f"/proc/{pid}/fd"))
    return False


def environment_of(pid: int) -> dict[str, str]:
    """The environment that a process was started with; empty if we may not read it."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (os.fsdecode(part).partition("=") for part in raw.split(b"\0") if b"=" in part)
    return {name: value for name, _, value in pairs}


def numbers_of(processes: Iterable[ProcessState]) -> set[int]:
    """The numbers of the ranks that have a live process, also of those without a stack."""
    return {number for one in processes if one.state != "Z" and (number := _number(one.pid)) is not None}


def _number(pid: int) -> int | None:
    value = environment_of(pid).get("RANK", "")
    return int(value) if value.isdecimal() else None


def _words(pid: int) -> str:
    try:
        return os.fsdecode(Path(f"/proc/{pid}/cmdline").read_bytes()[:4096])
    except OSError:
        return ""


def held_by_kernel(pid: int) -> str:
    """The function of the kernel that a process waits in; "" if the system does not say."""
    with suppress(OSError):
        found = Path(f"/proc/{pid}/wchan").read_text().strip()
        return "" if found == "0" else found
    return ""
