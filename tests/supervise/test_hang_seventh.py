"""What the seventh set of hangs showed: failed ranks that do not leave, ranks that were never started, ranks that poll, pipelines, asyncio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.supervise.test_hang import C10D, GONE, frames
from tests.supervise.test_hang_judged import Source, late
from tests.supervise.test_hang_patience import ARRIVED, MAIN, PYTHON, SITE, Ranks
from troubleshooter.hang.collectives import POLLS, STORE, WORK, collective_of
from troubleshooter.hang.failed import with_failed
from troubleshooter.hang.judge import judge
from troubleshooter.hang.notice import verdict_on
from troubleshooter.hang.ranks import Rank, ranks_of
from troubleshooter.hang.stacks import StackFrame
from troubleshooter.hang.tell import lines
from troubleshooter.supervise.state import process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

# --- a rank that failed and does not leave ---

SHUTS_DOWN = frames((f"{PYTHON}/threading.py", 1119, "join"), (f"{PYTHON}/threading.py", 1560, "_shutdown"))
UPLOADS = frames((f"{PYTHON}/socket.py", 706, "readinto"), (f"{SITE}/tracker/run.py", 9, "finish"))


def note(folder: Path, rank: int, how: object, pid: int) -> None:
    (folder / f"{rank}-{pid}.crash.json").write_text(json.dumps({"how": how}))


@pytest.mark.parametrize("stack", [SHUTS_DOWN, UPLOADS])
@pytest.mark.parametrize("how", ["uncaught", "thread"])
def test_a_failed_rank_that_something_holds_has_ended(tmp_path: Path, stack: tuple[StackFrame, ...], how: str) -> None:
    note(tmp_path, 1, how, GONE + 1)
    before, now = (Ranks(at, ("S", ARRIVED), ("S", stack)) for at in (0, 10))
    without = verdict_on(before, now)
    now.folder = tmp_path
    verdict = verdict_on(before, now)
    assert verdict is not None
    assert without is not None
    assert without.cause != "ended"
    assert late(verdict) == (("ended" if how == "uncaught" else without.cause), [1])


def test_others_that_wait_outside_of_collectives_are_not_the_failed_rank(tmp_path: Path) -> None:
    polls = frames(("/app/train.py", 25, "tokenized"), MAIN)
    ranks = [
        Rank(number, True, GONE + number, "S", (stack,)) for number, stack in enumerate((polls, SHUTS_DOWN, polls))
    ]
    note(tmp_path, 1, "uncaught", GONE + 1)
    note(tmp_path, 2, "uncaught", GONE + 7)  # a process that this rank started
    (tmp_path / f"0-{GONE}.crash.json").write_text("[")
    assert late(with_failed(judge(ranks, 3), ranks, tmp_path)) == ("ended", [1])


# --- a rank that was never started ---

JOINS = frames((C10D, 2169, "_new_process_group_helper"), (C10D, 1899, "init_process_group"), MAIN)
NEW_GROUP = frames((C10D, 2169, "_new_process_group_helper"), (C10D, 5600, "new_group"), MAIN)


@pytest.mark.parametrize(
    ("stack", "well", "cause"),
    [(JOINS, True, "meeting"), (JOINS, False, "ended"), (JOINS, None, "ended"), (NEW_GROUP, True, "ended"), (ARRIVED, True, "ended")],
)  # fmt: skip
def test_a_rank_without_a_process_may_never_have_been_started(
    stack: tuple[StackFrame, ...], well: bool | None, cause: str
) -> None:
    ranks = [Rank(number, True, GONE + number, "S", (stack,)) for number in (0, 2)]
    verdict = judge(ranks, 3, well)
    assert (verdict.cause, verdict.missing) == (cause, [1])
    first = lines(verdict, "en")[0]
    assert first == (
        "Has no process: rank 1. It has ended, or was never started."
        if cause == "meeting"
        else "Has no process any more: rank 1."
    )


# --- ranks that poll ---

POLLING = """\
def reduce():
    work = all_reduce()
    while not work.is_completed():  # asks
        time.sleep(0.05)  # sleeps
def merge():
    together.wait()  # merges
reduce()  # called
"""


def test_who_asks_again_and_again_whether_an_operation_is_done_waits_for_the_others(tmp_path: Path) -> None:
    source = Source(tmp_path, POLLING)
    asks, sleeps = (tuple(map(source.frame, (mark, "called"))) for mark in ("asks", "sleeps"))
    stuck = (StackFrame(f"{PYTHON}/threading.py", 327, "wait"), source.frame("merges"), source.frame("called"))
    assert {collective_of(asks), collective_of(sleeps)} == {POLLS}
    verdict = verdict_on(Ranks(0, ("R", asks), ("S", stuck)), Ranks(10, ("S", sleeps), ("S", stuck)))
    assert verdict is not None
    assert late(verdict)[1] == [1]
    assert "it asks for again and again" in "\n".join(lines(verdict, "en"))
    assert verdict_on(Ranks(0, ("S", asks), ("S", asks)), Ranks(10, ("S", asks), ("S", asks))) is None
    assert verdict_on(Ranks(0, ("S", ARRIVED), ("S", stuck)), Ranks(10, ("S", sleeps), ("S", stuck))) is None


@pytest.mark.parametrize(
    ("text", "collective"),
    [
        ("while int(store.add('done', 0)) < ranks:\n    time.sleep(1)  # here", POLLS),
        ("while not self._store.check(['done']):\n    time.sleep(1)  # here", POLLS),
        ("while not restored.check(rows):\n    time.sleep(1)  # here", ""),
        ("while not job.done():\n    time.sleep(1)  # here", ""),
        ("if work.is_completed():\n    time.sleep(1)  # here", ""),
        ("while True:\n    store.wait(['done'])  # here", STORE),
    ],
)
def test_what_counts_as_polling(tmp_path: Path, text: str, collective: str) -> None:
    assert collective_of((Source(tmp_path, text + "\n").frame("here"),)) == collective


def test_all_ranks_wait_for_a_key_that_none_of_them_sets(tmp_path: Path) -> None:
    asks = (Source(tmp_path, "store.wait(['start'])  # here\n").frame("here"),)
    verdict = judge([Rank(number, True, GONE + number, "S", (asks,)) for number in range(3)], 3)
    assert late(verdict) == ("meeting", [])
    assert "none of them sets" in "\n".join(lines(verdict, "en"))


# --- the stages of a pipeline ---


@pytest.mark.parametrize(
    ("file", "collective"),
    [
        ("site-packages/torch/distributed/pipelining/schedules.py", "batch_isend_irecv"),
        ("megatron/core/pipeline_parallel/p2p_communication.py", "batch_isend_irecv"),
        ("app/schedules.py", WORK),
    ],
)
def test_a_stage_of_a_pipeline_waits_for_one_other(tmp_path: Path, file: str, collective: str) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("work.wait()\n")
    stack = frames((str(path), 1, "_wait_batch_p2p"), ("/app/train.py", 29, "step"), MAIN)
    ranks = [Rank(number, True, GONE + number, "S", (one,)) for number, one in enumerate((ARRIVED, stack))]
    verdict = judge(ranks, 2)
    assert collective_of(stack) == collective
    if collective != WORK:
        assert late(verdict) == ("branch", [1])


# --- asyncio and programs ---

LOOPS = frames((f"{PYTHON}/selectors.py", 468, "select"), (f"{PYTHON}/asyncio/base_events.py", 1884, "_run_once"), MAIN)
WATCHES = frames((f"{PYTHON}/asyncio/unix_events.py", 1400, "_do_waitpid"), (f"{PYTHON}/threading.py", 982, "run"))


@pytest.mark.parametrize(("further", "cause"), [((), "network"), ((WATCHES,), "child")])
def test_an_event_loop_that_awaits_a_program(further: tuple[tuple[StackFrame, ...], ...], cause: str) -> None:
    look = Ranks(0, ("S", ARRIVED), ("S", LOOPS))
    look.stacks[GONE + 1] = [LOOPS, *further]
    assert late(judge(ranks_of(look.processes, look.stacks), 2)) == (cause, [1])


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="a system without descriptors of processes")
def test_a_descriptor_of_a_process_tells_that_its_end_is_awaited() -> None:
    own = process(os.getpid())
    assert own is not None
    stacks = {own.pid: [LOOPS]}
    with subprocess.Popen(["sleep", "60"]) as program:
        try:
            assert not ranks_of([own], stacks)[0].awaits_program
            descriptor = os.pidfd_open(program.pid)
            assert ranks_of([own], stacks)[0].awaits_program
            os.close(descriptor)
        finally:
            program.kill()
