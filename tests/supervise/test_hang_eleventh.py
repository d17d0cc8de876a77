"""Hangs that the eleventh set of them showed: what a rank does first, attempts, parts of a program, pools that end, loaders without workers, other programs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.supervise.test_hang import C10D, GONE, frames
from tests.supervise.test_hang_judged import TORCH, Source, late
from tests.supervise.test_hang_patience import ARRIVED, MAIN, PYTHON, Ranks
from troubleshooter.hang.busy import PATIENCE
from troubleshooter.hang.judge import judge
from troubleshooter.hang.notice import verdict_on
from troubleshooter.hang.parting import goes_first
from troubleshooter.hang.ranks import Rank, _runs_python, ranks_of
from troubleshooter.hang.stacks import StackFrame
from troubleshooter.hang.tell import lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

# --- what a rank does first ---

FIRST = """\
def prepare():
    with rank_zero_first():  # enters
        rows = read()
        share(rows)  # inside
    with timer():
        share(rows)  # elsewhere
prepare()  # called
"""


def entering(source: Source, *, wants: str = "if rank > 0:") -> Rank:
    """A rank that waits where a context manager of a package lets it."""
    package = source.path.parent / "site-packages/fabric/__init__.py"
    package.parent.mkdir(parents=True, exist_ok=True)
    package.write_text(f"def rank_zero_first():\n    {wants}\n        barrier()\n    yield\n")
    stack = (
        StackFrame(C10D, 9, "monitored_barrier"), StackFrame(str(package), 3, "rank_zero_first"), StackFrame(f"{PYTHON}/contextlib.py", 137, "__enter__"),
        source.frame("enters", "prepare"), source.frame("called", "<module>"),
    )  # fmt: skip
    return Rank(1, True, 1001, "S", (stack,))


def test_a_rank_in_a_with_that_the_other_one_enters_is_awaited(tmp_path: Path) -> None:
    source = Source(tmp_path, FIRST)
    inside = source.rank(0, "prepare/inside", "<module>/called", collective="broadcast")
    assert late(judge([inside, entering(source)], 2)) == ("branch", [0])
    assert not goes_first(source.rank(0, "prepare/elsewhere", "<module>/called").stack, entering(source).stack)
    assert not goes_first(entering(source).stack, inside.stack)


@pytest.mark.parametrize(("wants", "apart"), [("if rank > 0:", 0), ("if not self.is_main_process:", 0), ("if is_main_rank:", 1)])
def test_who_may_wait_in_what_is_entered(tmp_path: Path, wants: str, apart: int) -> None:
    source = Source(tmp_path, FIRST)
    beyond = source.rank(0, "prepare/elsewhere", "<module>/called", collective="broadcast")
    assert late(judge([beyond, entering(source, wants=wants)], 2)) == ("branch", [apart])


PAIR = """\
def load(rank):
    if rank != 0:
        dist.barrier()  # waits
    share(config)  # between
    if {test}:
        dist.{call}()  # ends
def other(rank):
    if rank == 0:
        dist.barrier()
load(rank)  # called
"""


@pytest.mark.parametrize(
    ("test", "call", "apart"),
    [("rank == 0", "barrier", 0), ("rank != 0", "barrier", 1), ("rank == 0", "broadcast", 1), ("done", "barrier", 1)],
)
def test_a_rank_between_two_barriers_goes_first(tmp_path: Path, test: str, call: str, apart: int) -> None:
    """A barrier for one rank alone, later in the same function, ends what it does first."""
    source = Source(tmp_path, PAIR.format(test=test, call=call))
    first = source.rank(0, "load/between", "<module>/called", collective="broadcast")
    assert late(judge([first, source.rank(1, "load/waits", "<module>/called", collective="barrier")], 2)) == (
        "branch",
        [apart],
    )


# --- attempts, and the parts of a program ---

LOOPS = """\
def again(function):
    for attempt in range(3):
        try:
            {success}  # tries
        except OSError as error:
            {failure}
def score(rows):
    for {item} in {over}:
        {item}(rows)  # scores
    gather(rows)  # scored
save()  # saves
share()  # goes on
"""


@pytest.mark.parametrize(
    ("success", "failure", "cause"),
    [
        ("return function()", "print(error)", "branch"),
        ("return function()", "raise", "data-ended"),
        ("function()", "print(error)", "data-ended"),
    ],
)
def test_a_rank_that_tries_again_has_no_more_data_than_others(
    tmp_path: Path, success: str, failure: str, cause: str
) -> None:
    source = Source(tmp_path, LOOPS.format(success=success, failure=failure, item="one", over="rows"))
    others = [source.rank(number, "<module>/goes on", collective="all_reduce") for number in (0, 1)]
    assert late(judge([*others, source.rank(2, "again/tries", "<module>/saves", collective="barrier")], 3)) == (
        cause,
        [2],
    )


@pytest.mark.parametrize(
    ("over", "cause"),
    [
        ("zip(self.reward_funcs, self.names)", "branch"), ("model.parameters()", "branch"), ("self.callbacks", "branch"),
        ("loader", "data-ended"), ("enumerate(rows)", "data-ended"), ("grouped_batches", "data-ended"),
    ],
)  # fmt: skip
def test_a_loop_over_parts_of_the_program_ends_no_data(tmp_path: Path, over: str, cause: str) -> None:
    source = Source(tmp_path, LOOPS.format(success="pass", failure="pass", item="one", over=over))
    others = [source.rank(number, "score/scores", "<module>/goes on", collective="all_reduce") for number in (0, 1)]
    assert late(judge([*others, source.rank(2, "score/scored", "<module>/goes on", collective="gather")], 3)) == (
        cause,
        [2],
    )


# --- pools of threads that end, loaders without workers ---


@pytest.mark.parametrize(
    ("file", "function", "cause"),
    [
        (f"{PYTHON}/concurrent/futures/thread.py", "shutdown", "lock"),
        (f"{PYTHON}/threading.py", "_shutdown", "data-ended"),
    ],
)
def test_the_end_of_a_pool_is_not_the_end_of_the_run(file: str, function: str, cause: str) -> None:
    joins = frames(
        (f"{PYTHON}/threading.py", 1139, "_wait_for_tstate_lock"),
        (file, 235, function),
        ("/app/train.py", 32, "prefetched"),
        MAIN,
    )
    verdict = judge([Rank(0, True, 1000, "S", (ARRIVED,)), Rank(1, True, 1001, "S", (joins,))], 2)
    assert late(verdict) == (cause, [1])


@pytest.mark.parametrize(
    ("text", "cpu", "kernel", "cause"),
    [
        ("while at < len(tokens):", 0.9, "", "computing"), ("rows = open(name).read()", 0.0, "pipe_read", "file"),
        ("time.sleep(900)", 0.0, "hrtimer_nanosleep", "sleeping"), ("decode(row)", 0.0, "", "loader"),
    ],
)  # fmt: skip
def test_rows_that_a_rank_prepares_itself(tmp_path: Path, text: str, cpu: float, kernel: str, cause: str) -> None:
    own = tmp_path / "collate.py"
    own.write_text(text + "\n")
    fetches = (
        (f"{TORCH}/utils/data/_utils/fetch.py", 57, "fetch"),
        (f"{TORCH}/utils/data/dataloader.py", 785, "_next_data"),
        MAIN,
    )
    in_rank = Rank(1, True, 1001, "S", (frames((str(own), 1, "collate"), *fetches),), (), cpu, kernel)
    assert late(judge([Rank(0, True, 1000, "S", (ARRIVED,)), in_rank], 2)) == (cause, [1])
    from_worker = frames(
        (f"{PYTHON}/multiprocessing/queues.py", 113, "get"),
        (f"{TORCH}/utils/data/dataloader.py", 1291, "_try_get_data"),
        MAIN,
    )
    assert late(judge([Rank(0, True, 1000, "S", (ARRIVED,)), in_rank._replace(stacks=(from_worker,))], 2)) == (
        "loader",
        [1],
    )


# --- a process of a rank that runs no Python ---

MEETS = frames((C10D, 1800, "init_process_group"), ("/app/train.py", 5, "<module>"))


def look_at(monkeypatch: pytest.MonkeyPatch, python: bool, others: tuple[StackFrame, ...] = ARRIVED) -> Ranks:
    look = Ranks(0, ("S", others), ("S", ()), ("S", ()))
    look.processes = [look.processes[0], *(one._replace(name="sh") for one in look.processes[1:])]
    del look.stacks[GONE + 1], look.stacks[GONE + 2]
    monkeypatch.setattr(
        "troubleshooter.hang.ranks.environment_of", lambda pid: {"RANK": str(min(pid - GONE, 1)), "WORLD_SIZE": "2"}
    )
    monkeypatch.setattr(
        "troubleshooter.hang.notice.environment_of", lambda pid: {"RANK": str(min(pid - GONE, 1)), "WORLD_SIZE": "2"}
    )
    monkeypatch.setattr("troubleshooter.hang.ranks._runs_python", lambda pid: python and pid == GONE + 2)
    return look


def test_a_process_of_a_rank_became_another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    look = look_at(monkeypatch, python=False)
    assert [(one.number, one.pid, one.program) for one in ranks_of(look.processes, look.stacks)] == [
        (0, GONE, ""),
        (1, GONE + 1, "sh"),
    ]
    assert verdict_on(look, look, patience=PATIENCE) is None
    verdict = verdict_on(look, look, patience=PATIENCE + 0.1)
    assert verdict is not None
    assert late(verdict) == ("ended", [1])
    assert f"rank 1 has no process of Python; its process {GONE + 1} runs sh" in "\n".join(lines(verdict, "en"))


def test_a_script_has_not_come_to_start_its_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    look = look_at(monkeypatch, python=False, others=MEETS)
    verdict = verdict_on(look, look, patience=PATIENCE + 0.1)
    assert verdict is not None
    assert late(verdict) == ("meeting", [1])


def test_a_rank_that_starts_below_its_script_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    look = look_at(monkeypatch, python=True)
    assert [one.number for one in ranks_of(look.processes, look.stacks)] == [0]
    assert verdict_on(look, look, patience=100.0) is None


def test_which_processes_run_python() -> None:
    with subprocess.Popen(["sleep", "60"]) as program:
        try:
            assert not _runs_python(program.pid)
        finally:
            program.kill()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as python:
        assert _runs_python(python.pid)
    assert _runs_python(GONE)
