"""Ranks that a script starts itself, as by ``multiprocessing.Process``: no variable of their environment gives their numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from troubleshooter.supervise.state import ProcessState

_COLLECTIVES = ("gloo_", "pt_gloo", "nccl", "NCCL")
"""How the names of the threads begin that a process has once it is in a group."""


class Launched(NamedTuple):
    """``places``: the number of each rank that has a process, by the order of start. ``failed``: the numbers of those that ended with an error or
    by a signal, and whose end their launcher has not asked for."""

    places: dict[int, int]
    failed: frozenset[int]


def launched(pids: Collection[int], known: Mapping[int, ProcessState]) -> Launched | None:
    """The ranks among these processes, if one that is in no group itself has started all that are in one. Those that are beside them and have not
    joined yet count, too."""
    in_group = {pid for pid in pids if is_in_group(pid)}
    above = {known[pid].parent for pid in in_group}
    if len(above) != 1 or not above <= known.keys():
        return None
    (launcher,) = above
    beside = [one for one in known.values() if one.parent == launcher and (one.pid in pids or one.state == "Z")]
    beside.sort(key=lambda one: (one.started, one.pid))
    return Launched(
        {one.pid: at for at, one in enumerate(beside) if one.state != "Z"},
        frozenset(at for at, one in enumerate(beside) if one.state == "Z" and ended_badly(one.pid)),
    )


def is_in_group(pid: int) -> bool:
    """Whether a process has formed a group of ``torch.distributed``, as the threads tell that it has for it."""
    for task in Path(f"/proc/{pid}/task").glob("*/comm"):
        with suppress(OSError):
            if task.read_text().startswith(_COLLECTIVES):
                return True
    return False


def ended_badly(pid: int) -> bool:
    """Whether a process whose end nobody has asked for yet ended with another status than 0. It stands last in the line of /proc."""
    with suppress(OSError):
        return not Path(f"/proc/{pid}/stat").read_text(errors="replace").endswith(" 0\n")
    return False
