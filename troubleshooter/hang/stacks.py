"""The stacks of Python processes. The hook is asked for them; py-spy is asked where a process has no hook."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from troubleshooter.hang.asking import AskedProcess, Question, ask, insist

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

    ``folder``: where the hook keeps a file for each process that it is in. Only those are sent a signal: it would end any
    other process. All are asked at once, so that their answers belong to one moment.
    """
    asked: dict[int, Question] = {}
    places: dict[int, tuple[Path, int]] = {}
    for pid in pids:
        path = folder / f"{pid}.stacks" if folder is not None else None
        if path is None or not AskedProcess(pid).can_be_asked():
            continue
        with suppress(OSError):
            places[pid] = path, path.stat().st_size
            asked[pid] = ask(AskedProcess(pid))
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
                elif size == start and pid in asked:
                    asked[pid] = insist(AskedProcess(pid), asked[pid], time.monotonic())
                sizes[pid] = size
    for pid in pids:
        if pid not in found and (answer := _spied(pid)):
            found[pid] = answer
    return {pid: stacks for pid, stacks in found.items() if stacks}


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
