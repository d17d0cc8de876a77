"""Hangs that the eleventh set of them showed: what a rank does first, attempts, parts of a program, pools that end, loaders without workers, other
programs, trainings in threads, next turns, and what is usual after what was recorded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.supervise.test_hang import C10D, GONE, frames
from tests.supervise.test_hang_judged import TORCH, Source, late
from tests.supervise.test_hang_patience import ARRIVED, MAIN, PYTHON, Ranks
from troubleshooter.hang.busy import PATIENCE
from troubleshooter.hang.collectives import collective_of
from troubleshooter.hang.flight import Collective
from troubleshooter.hang.judge import judge
from troubleshooter.hang.notice import verdict_on
from troubleshooter.hang.parting import goes_first
from troubleshooter.hang.ranks import Rank, ranks_of, runs_python
from troubleshooter.hang.recorded import RankRecord, Waits, absent_from_groups, off_the_usual_way
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


@pytest.mark.parametrize(
    ("wants", "apart"), [("if rank > 0:", 0), ("if not self.is_main_process:", 0), ("if is_main_rank:", 1)]
)
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
    monkeypatch.setattr("troubleshooter.hang.ranks.runs_python", lambda pid: python and pid == GONE + 2)
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
            assert not runs_python(program.pid)
        finally:
            program.kill()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as python:
        assert runs_python(python.pid)
    assert runs_python(GONE)


# --- ranks told by a thread ---

JOINS = frames(
    (f"{PYTHON}/threading.py", 1139, "_wait_for_tstate_lock"), (f"{PYTHON}/threading.py", 1119, "join"), MAIN
)
GETS = frames((f"{PYTHON}/threading.py", 331, "wait"), (f"{PYTHON}/queue.py", 180, "get"), MAIN)
TRAINS = frames((C10D, 3252, "all_reduce"), ("/app/train.py", 40, "step"), (f"{PYTHON}/threading.py", 982, "run"))
SAVES = frames((C10D, 5356, "barrier"), ("/app/train.py", 60, "save"), (f"{PYTHON}/threading.py", 982, "run"))
READS = frames(("/app/train.py", 70, "read"), (f"{PYTHON}/threading.py", 982, "run"))


class Threads(Ranks):
    """A look at ranks with several threads each. ``woke``: how often the threads beside the main one woke up before it."""

    def __init__(self, at: float, *ranks: tuple[tuple[StackFrame, ...], ...], woke: int = 0) -> None:
        super().__init__(at, *(("S", stacks[0]) for stacks in ranks))
        self.stacks = {GONE + number: list(stacks) for number, stacks in enumerate(ranks)}
        self.woke = woke

    def all_wakes_since(self, before: object, pid: int) -> int:
        return self.woke


@pytest.fixture
def numbered(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("ranks", "notice"):
        monkeypatch.setattr(
            f"troubleshooter.hang.{module}.environment_of", lambda pid: {"RANK": str(pid - GONE), "WORLD_SIZE": "3"}
        )


@pytest.mark.parametrize(
    ("ranks", "apart"),
    [
        (((JOINS, TRAINS), (JOINS, SAVES), (JOINS, TRAINS)), ("branch", [1])),
        (((GETS, TRAINS), (GETS, SAVES), (GETS, TRAINS)), ("branch", [1])),
        (((JOINS, TRAINS), (JOINS, READS), (JOINS, TRAINS)), ("lock", [1])),
        (((JOINS, SAVES), (JOINS, SAVES), (ARRIVED,)), ("branch", [2])),
        # Main threads are in collectives, and one waits for something that is not the end of its own thread.
        (((ARRIVED, SAVES), (GETS, SAVES), (ARRIVED, SAVES)), ("lock", [1])),
    ],
)
@pytest.mark.usefixtures("numbered")
def test_a_rank_whose_main_thread_waits_for_the_one_that_trains(
    ranks: tuple[tuple[tuple[StackFrame, ...], ...], ...], apart: tuple[str, list[int]]
) -> None:
    verdict = verdict_on(Threads(0, *ranks), Threads(10, *ranks))
    assert verdict is not None
    assert late(verdict) == apart


@pytest.mark.usefixtures("numbered")
def test_a_training_in_a_thread_goes_on() -> None:
    """Both looks found it in the same collective, and meanwhile it woke up."""
    ranks = ((JOINS, TRAINS),) * 3
    assert verdict_on(Threads(0, *ranks), Threads(10, *ranks)) is not None
    assert verdict_on(Threads(0, *ranks), Threads(10, *ranks, woke=20)) is None


# --- the next turn, errors, the run's own code inside of a collective ---

NEXT = """\
def train(batches):
    for step in batches:
        dist.all_reduce(loss)  # first
        if step % 10 == 0:
            dist.broadcast(loss)  # at-times
        share(loss)  # second
def share(found):
    if not found:
        return
    dist.all_gather(parts, found)  # shares
def epochs():
    for epoch in range(4):
        dist.barrier()  # begins
        for batch in loader:
            dist.all_reduce(batch)  # in-epoch
def guarded():
    try:
        epochs()  # tries
    except KeyboardInterrupt:
        dist.barrier()  # caught
    dist.barrier()  # beyond
train(rows)  # called
"""


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (("train/first",), ("share/shares", "train/second"), ("branch", 0)),  # it returned early from `share`
        (("train/first",), ("train/at-times",), ("branch", 1)),
        (("share/shares", "train/second"), ("train/first",), ("branch", 1)),
        (("epochs/begins",), ("epochs/in-epoch",), ("data-ended", 0)),
        (("guarded/caught",), ("epochs/in-epoch", "guarded/tries"), ("branch", 0)),
        (("guarded/beyond",), ("epochs/in-epoch", "guarded/tries"), ("data-ended", 0)),
    ],
)
def test_who_is_at_the_next_turn_or_caught_an_error(
    tmp_path: Path, first: tuple[str, ...], second: tuple[str, ...], apart: tuple[str, int]
) -> None:
    source = Source(tmp_path, NEXT)
    called = "<module>/called"
    one, other = (
        source.rank(0, *first, called, collective="all_reduce"),
        source.rank(1, *second, called, collective="all_gather"),
    )
    assert late(judge([one, other], 2)) == (apart[0], [apart[1]])


def test_what_may_be_skipped_does_not_tell_who_is_at_the_next_turn(tmp_path: Path) -> None:
    """Others may have returned before the earlier line."""
    source = Source(
        tmp_path,
        "def train():\n    while True:\n        share()  # shares\n        reduce()  # reduces\ndef share():\n    if not rows:\n        return\n    gather()  # gathers\ntrain()  # called\n",
    )
    one = source.rank(0, "share/gathers", "train/shares", "<module>/called", collective="all_gather")
    verdict = judge([one, source.rank(1, "train/reduces", "<module>/called", collective="all_reduce")], 2)
    assert late(verdict) == ("branch", [1])
    assert verdict.guessed


def test_a_rank_that_pickles_what_it_gathers_is_not_in_the_collective() -> None:
    gathers = (C10D, 3501, "all_gather_object"), ("/app/train.py", 40, "step"), MAIN
    pickles = frames(("/app/stats.py", 7, "__getstate__"), (C10D, 3405, "_object_to_tensor"), *gathers)
    ranks = [
        Rank(number, True, 1000 + number, "S", (stack,))
        for number, stack in enumerate((frames((C10D, 4287, "all_gather"), *gathers), pickles))
    ]
    assert late(judge(ranks, 2)) == ("unknown", [1])
    in_torch = frames(("/opt/src/torch/distributed/wrapper.py", 7, "wrapped"), *gathers)
    assert collective_of(in_torch) == "all_gather_object"


# --- what is usual after what was recorded ---


def kinds(*names: str) -> list[Collective]:
    return [Collective(number, "0", name, "completed", "[[4]]", "[Float]", "") for number, name in enumerate(names, 1)]


@pytest.mark.parametrize(
    ("before", "now", "apart"),
    [
        ("r r r", "r b", [1]),  # a barrier that never came
        ("r g r g r", "g r", [1]),  # what came each time is left out
        ("r r g r r", "r g", [0]),
        ("b r r r", "r b", [1]),
        ("a e r b e e c e", "r e", []),  # as often the one as the other
        ("r r r", "g b", []),
        ("", "r b", []),
    ],
)
def test_of_two_ranks_one_is_where_it_usually_is(before: str, now: str, apart: list[int]) -> None:
    done = kinds(*before.split())
    here = {
        rank: Collective(len(done) + 1, "0", name, "scheduled", "[[4]]", "[Float]", "")
        for rank, name in enumerate(now.split())
    }
    records = {rank: RankRecord({"0": frozenset((0, 1))}, [*done, one]) for rank, one in here.items()}
    assert sorted(off_the_usual_way(here, records)) == apart


def test_a_rank_that_waits_in_a_small_group_is_held_up() -> None:
    """Rank 0 waits for 2, which waits for 3. That one is in a collective of all."""
    every = frozenset(range(4))
    waits = [
        Waits("rows 0", 7, frozenset((0, 2)), frozenset((2,))),
        Waits("columns 1", 7, frozenset((2, 3)), frozenset((3,))),
        Waits("all", 4, every, frozenset((0, 2))),
    ]
    assert absent_from_groups(waits) == {3}
    assert absent_from_groups([*waits[:2], Waits("columns 2", 7, frozenset((3, 0)), frozenset((0,)))]) == frozenset()


# --- locks and files of another rank ---

WAITS = """\
def wait():
    while not os.path.exists(done):
        time.sleep(0.5)  # polls
def idle():
    while True:
        time.sleep(60)  # idles
def take():
    fcntl.flock(file, fcntl.LOCK_EX)  # takes
prepare()  # prepares
"""
LOCKS = StackFrame("/env/lib/python3.11/site-packages/filelock/_api.py", 380, "acquire")


@pytest.mark.parametrize("mark", ["wait/polls", "take/takes"])
def test_ranks_that_wait_for_a_file_wait_for_the_rank_that_does_something_else(tmp_path: Path, mark: str) -> None:
    source = Source(tmp_path, WAITS)
    reads = Rank(
        0, True, 1000, "S", (frames((f"{PYTHON}/socket.py", 706, "readinto"), (str(source.path), 9, "<module>")),)
    )
    waiting = [source.rank(number, mark, kernel="hrtimer_nanosleep" if "polls" in mark else "") for number in (1, 2)]
    verdict = judge([reads, *waiting], 3)
    assert late(verdict) == ("network", [0])
    assert "Rank 1, 2 waits in: a lock or a file that another rank has" in "\n".join(lines(verdict, "en"))
    assert late(judge(waiting, 2))[1] == [1, 2]
    in_collective = [one._replace(number=at, stacks=(ARRIVED,)) for at, one in enumerate((*waiting, reads))][:2]
    assert late(judge([*in_collective, waiting[1]], 3))[1] == [2]


def test_a_lock_that_is_asked_for_again_and_again(tmp_path: Path) -> None:
    """The threads of the rank wake up by that, and it is seen at several lines."""
    source = Source(tmp_path, WAITS)
    reads = frames((f"{PYTHON}/socket.py", 706, "readinto"), (str(source.path), 9, "<module>"))
    polls = [(LOCKS._replace(line=line), *source.rank(1, "<module>/prepares").stack) for line in (380, 371)]
    verdict = verdict_on(Threads(0, (reads,), (polls[0],)), Threads(10, (reads,), (polls[1],)))
    assert verdict is not None
    assert late(verdict) == ("network", [0])
    idles = source.rank(0, "idle/idles").stack
    assert verdict_on(Threads(0, (idles,), (polls[0],)), Threads(10, (idles,), (polls[0],))) is None
