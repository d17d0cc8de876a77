"""What the tasks of a rank's event loop wait for, as its hook tells. The main thread's stack shows only that the loop waits for something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from troubleshooter.hang.doing import Cause, awaited_by_polling, runs_event_loop
from troubleshooter.hang.judge import HangVerdict
from troubleshooter.hang.owned import is_own
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.recorded import ask
from troubleshooter.hang.source import blocks_around, source_line
from troubleshooter.hang.stacks import Stack, StackFrame
from troubleshooter.hang.standing import Standing

_SLEEPS, _ASKS_IN_THREAD = ("sleep", "/asyncio/tasks.py"), ("to_thread", "/asyncio/threads.py")
_OF_TASKS = ("/asyncio/tasks.py", "/asyncio/taskgroups.py")
_AWAITS_TASKS = re.compile(r"\b(?:gather|wait|wait_for|as_completed|TaskGroup)\(|\.join\(")


def only_polls(rank: Rank, folder: Path | None) -> bool:
    """Whether all tasks of a rank's event loop sleep in a loop of the run's own code before they look again, or wait for such tasks."""
    if not runs_event_loop(rank):
        return False
    record = ask([rank], folder).get(rank.number)
    return record is not None and bool(_polling(record.tasks))


def with_tasks(verdict: HangVerdict, folder: Path | None) -> HangVerdict:
    """The verdict with what the tasks of late ranks wait for whose main threads are in an event loop. What they look for is the cause, if they only do
    that."""
    loops = [one.rank for one in verdict.late if runs_event_loop(one.rank)]
    records = ask(loops, folder) if loops else {}
    late = [
        one._replace(rank=one.rank._replace(tasks=tuple(records[one.rank.number].tasks)))
        if one.rank.number in records
        else one
        for one in verdict.late
    ]
    polling = [_polling(one.rank.tasks) for one in late]
    cause = verdict.cause
    if late and all(polling) and cause == "network":
        found = Counter(_awaited(one.rank, own) for one, places in zip(late, polling, strict=True) for own in places)
        cause = found.most_common(1)[0][0]
    return verdict._replace(late=late, cause=cause)


def _polling(tasks: Sequence[Stack]) -> list[StackFrame]:
    """Where tasks poll; none if any of them waits for something else."""
    polls = [own for task in tasks if (own := _own(task)) is not None and _polls(task)]
    return polls if all(_polls(task) or _awaits_tasks(task) for task in tasks) else []


def _awaited(rank: Rank, own: StackFrame) -> Cause:
    return awaited_by_polling(Standing(rank, "", own, own), source_line(own))


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
