"""What the tasks of a rank's event loop wait for, as its hook tells. The main thread's stack shows only that the loop waits for something."""

from __future__ import annotations

import re
from pathlib import Path

from troubleshooter.hang.doing import runs_event_loop
from troubleshooter.hang.judge import HangVerdict
from troubleshooter.hang.owned import is_own
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.recorded import ask
from troubleshooter.hang.source import blocks_around, source_line
from troubleshooter.hang.stacks import Stack, StackFrame

_SLEEPS, _ASKS_IN_THREAD = ("sleep", "/asyncio/tasks.py"), ("to_thread", "/asyncio/threads.py")
_OF_TASKS = ("/asyncio/tasks.py", "/asyncio/taskgroups.py")
_AWAITS_TASKS = re.compile(r"\b(?:gather|wait|wait_for|as_completed|TaskGroup)\(|\.join\(")


def only_polls(rank: Rank, folder: Path | None) -> bool:
    """Whether all tasks of a rank's event loop sleep in a loop of the run's own code before they look again, or wait for such tasks."""
    if not runs_event_loop(rank):
        return False
    record = ask([rank], folder).get(rank.number)
    tasks = record.tasks if record is not None else ()
    polls = [task for task in tasks if _polls(task)]
    return bool(polls) and all(task in polls or _awaits_tasks(task) for task in tasks)


def with_tasks(verdict: HangVerdict, folder: Path | None) -> HangVerdict:
    """The verdict with what the tasks of late ranks wait for whose main threads are in an event loop."""
    loops = [one.rank for one in verdict.late if runs_event_loop(one.rank)]
    records = ask(loops, folder) if loops else {}
    late = [
        one._replace(rank=one.rank._replace(tasks=tuple(records[one.rank.number].tasks)))
        if one.rank.number in records
        else one
        for one in verdict.late
    ]
    return verdict._replace(late=late)


def _polls(task: Stack) -> bool:
    own = _own(task)
    if own is None or not any(block.kind == "loop" and block.test for block in blocks_around(own)):
        return False
    inner = task[0]
    return any(
        inner.function == function and inner.file.replace("\\", "/").endswith(file)
        for function, file in (_SLEEPS, _ASKS_IN_THREAD)
    )


def _awaits_tasks(task: Stack) -> bool:
    """Whether a task waits for others, each of which tells for itself what it waits for."""
    if not task or not (is_own(task[0]) or task[0].file.replace("\\", "/").endswith(_OF_TASKS)):
        return False
    return bool(_AWAITS_TASKS.search(source_line(_own(task))))


def _own(task: Stack) -> StackFrame | None:
    return next((frame for frame in task if is_own(frame)), None)
