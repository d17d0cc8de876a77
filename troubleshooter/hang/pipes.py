"""Processes that wait for each other through a pipe: one reads what the other one never writes, or writes what it never reads."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from troubleshooter.hang.owned import is_own
from troubleshooter.hang.ranks import Rank, held_by_kernel
from troubleshooter.supervise.state import ProcessState

_ACCESS = 0o3
"""The bits of a descriptor's flags that tell whether it reads (0) or writes (1)."""


def holds_all_below(rank: Rank, processes: Iterable[ProcessState]) -> bool:
    """Whether a rank has started processes, and each of them that still runs is held in a pipe whose other end that rank has, while no other thread of
    the run's own code is there to use that end."""
    if any(is_own(frame) for stack in rank.stacks[1:] for frame in stack):
        return False
    below = [one.pid for one in processes if one.parent == rank.pid and one.state != "Z"]
    return bool(below) and all(_waits_for(one, rank.pid) for one in below)


def _waits_for(pid: int, other: int) -> bool:
    held = held_by_kernel(pid)
    reads, writes = "pipe_read" in held, "pipe_write" in held
    return (reads or writes) and _named_pipe(pid) in _pipes(other, os.O_WRONLY if reads else os.O_RDONLY)


def _named_pipe(pid: int) -> str:
    """The pipe that a process reads or writes just now: the first argument of both is the descriptor. "" if the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        descriptor = int(Path(f"/proc/{pid}/syscall").read_text().split()[1], 16)
        return os.readlink(f"/proc/{pid}/fd/{descriptor}")
    return ""


def _pipes(pid: int, access: int) -> set[str]:
    """The pipes that a process has open for reading, or for writing."""
    found: set[str] = set()
    here = Path(f"/proc/{pid}")
    with suppress(OSError):
        for descriptor in os.listdir(here / "fd"):
            with suppress(OSError, ValueError, IndexError):
                name = os.readlink(here / "fd" / descriptor)
                flags = (here / "fdinfo" / descriptor).read_text().partition("flags:")[2].split()[0]
                if name.startswith("pipe:") and int(flags, 8) & _ACCESS == access:
                    found.add(name)
    return found
