"""How ranks that all wait are judged, and what a lone stack tells: on stacks over real source files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from troubleshooter.hang.collectives import STORE, WORK, collective_of
from troubleshooter.hang.judge import HangVerdict, judge
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.source import blocks_around
from troubleshooter.hang.stacks import StackFrame
from troubleshooter.hang.tell import lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")
TORCH = "/env/lib/python3.11/site-packages/torch"
C10D = f"{TORCH}/distributed/distributed_c10d.py"


class Source:
    """A script on the disk. Lines are named by a mark at their end."""

    def __init__(self, folder: Path, text: str) -> None:
        self.path = folder / "train.py"
        self.path.write_text(text)
        self.lines = text.splitlines()

    def frame(self, mark: str, function: str = "train") -> StackFrame:
        (line,) = (number for number, text in enumerate(self.lines, 1) if text.endswith(f"# {mark}"))
        return StackFrame(str(self.path), line, function)

    def rank(self, number: int, *marks: str, collective: str = "", kernel: str = "") -> Rank:
        """A rank whose frames, the innermost first, are at these marks ``function/mark``; it waits in a collective of torch, if one is named."""
        stack = [StackFrame(C10D, 9, collective)] if collective else []
        for mark in marks:
            function, _, name = mark.rpartition("/")
            stack.append(self.frame(name, function or "train"))
        return Rank(number, True, 1000 + number, "S", (tuple(stack),), (), 0.0, kernel)


LOOP = """\
def train():
    for batch in rows:
        loss = step(batch)
        if rank == 0:
            save()  # in-branch
        dist.all_reduce(loss)  # in-loop
    dist.barrier()  # after
def save():
    store.get("config")  # asks
train()  # called
report()  # reported
"""


def late(verdict: HangVerdict) -> tuple[str, list[int]]:
    return verdict.cause, [one.rank.number for one in verdict.late]


@pytest.fixture
def loop(tmp_path: Path) -> Source:
    return Source(tmp_path, LOOP)


@pytest.mark.parametrize("ranks", [2, 3])
def test_a_rank_that_left_the_loop_of_the_others_ran_out_of_data(loop: Source, ranks: int) -> None:
    others = [loop.rank(number, "in-loop", "<module>/called", collective="all_reduce") for number in range(1, ranks)]
    verdict = judge([loop.rank(0, "after", "<module>/called", collective="barrier"), *others], ranks)
    assert late(verdict) == ("data-ended", [0])
    assert "their data ran out earlier" in "\n".join(lines(verdict, "en"))


def test_a_rank_that_is_still_in_the_loop_is_the_one_apart(loop: Source) -> None:
    others = [loop.rank(number, "after", "<module>/called", collective="barrier") for number in (1, 2)]
    verdict = judge([loop.rank(0, "in-loop", "<module>/called", collective="all_reduce"), *others], 3)
    assert late(verdict) == ("data-ended", [0])


def test_of_two_ranks_the_one_in_a_branch_went_apart(loop: Source) -> None:
    one = loop.rank(0, "in-branch", "<module>/called", collective="gather")
    assert late(judge([one, loop.rank(1, "in-loop", "<module>/called", collective="all_reduce")], 2)) == ("branch", [0])


BRANCH = """\
def save():
    if is_main_process():
        gather()  # inside
def train():
    save()  # called
    loss.backward()  # before
    dist.barrier()  # after
"""


def test_a_branch_for_certain_ranks_counts_in_the_functions_that_it_called(tmp_path: Path) -> None:
    source = Source(tmp_path, BRANCH)
    one = source.rank(0, "save/inside", "called", collective="gather")
    assert late(judge([one, source.rank(1, "after", collective="barrier")], 2)) == ("branch", [0])


def test_without_a_branch_the_one_that_came_further_went_apart(tmp_path: Path) -> None:
    source = Source(tmp_path, BRANCH)
    one = source.rank(0, "before", collective="all_reduce")
    assert late(judge([one, source.rank(1, "after", collective="barrier")], 2)) == ("branch", [1])


@pytest.mark.parametrize("operation", ["send", "recv"])
def test_who_waits_for_one_rank_is_apart_from_a_collective_of_all(tmp_path: Path, operation: str) -> None:
    source = Source(tmp_path, BRANCH)
    ranks = [source.rank(0, "before", collective=operation), source.rank(1, "after", collective="barrier")]
    assert late(judge(ranks, 2)) == ("branch", [0])


def test_a_key_that_no_rank_has_set(loop: Source) -> None:
    asks = loop.rank(0, "save/asks", "in-branch", "<module>/called")
    assert collective_of(asks.stack) == STORE
    verdict = judge([asks, loop.rank(1, "after", "<module>/called", collective="barrier")], 2)
    assert late(verdict) == ("branch", [0])
    alone = judge([asks], 2)
    assert (alone.cause, alone.missing) == ("ended", [1])


@pytest.mark.parametrize(
    ("line", "collective"),
    [
        ("work.wait()", WORK), ("for one in dist.batch_isend_irecv(ops): one.wait()", WORK), ("os.wait()", ""), ("self.store.wait([key])", STORE),
        ("_get_default_store().get('key')", STORE), ("rows.get('text')", ""),
    ],
)  # fmt: skip
def test_a_wait_in_cpp_has_no_frame_of_its_own(tmp_path: Path, line: str, collective: str) -> None:
    source = Source(tmp_path, f"{line}  # here\n")
    assert collective_of((source.frame("here"),)) == collective
    in_a_thread = StackFrame("/usr/lib/python3.11/threading.py", 331, "wait")
    assert collective_of((in_a_thread, source.frame("here"))) == ""


@pytest.mark.parametrize(
    ("file", "function", "collective"),
    [
        ("distributed/_functional_collectives.py", "wait_tensor", "wait_tensor"),
        ("nn/parallel/distributed.py", "_distributed_broadcast_coalesced", "distributed_broadcast_coalesced"),
        ("distributed/utils.py", "_verify_param_shape_across_processes", "verify_param_shape_across_processes"),
        ("nn/parallel/distributed.py", "_pre_forward", ""),
        ("autograd/graph.py", "_engine_run_backward", "backward"),
    ],
)
def test_torch_waits_for_other_ranks_in_its_own_functions(file: str, function: str, collective: str) -> None:
    own = StackFrame("/app/train.py", 3, "save")
    through = StackFrame(f"{TORCH}/_ops.py", 882, "redispatch")
    assert collective_of((through, StackFrame(f"{TORCH}/{file}", 9, function), own)) == collective


@pytest.mark.parametrize(
    ("text", "kernel", "cause"),
    [
        ('answer = input("overwrite? ")  # here', "pipe_read", "input"),
        ("form.input(rows).read()  # here", "pipe_read", "file"),
        ("base.execute('insert into runs values (1)')  # here", "hrtimer_nanosleep", "lock"),
        ("while os.path.exists(path + '.lock'):\n    time.sleep(1)  # here", "hrtimer_nanosleep", "lock"),
        ("while not os.path.exists(done):\n    time.sleep(1)  # here", "hrtimer_nanosleep", "file"),
        ("while not ready:\n    time.sleep(1)  # here", "hrtimer_nanosleep", "sleeping"),
        ("while True:\n    try:\n        os.mkdir('cache')\n        break\n    except FileExistsError:\n        time.sleep(1)  # here", "", "lock"),
        ("for n in range(99):\n    if taken(path + '.lock'): time.sleep(1)  # here", "", "lock"),
        ("while not done:\n    block(clock())\n    os.mkdir('out', exist_ok=True)\n    time.sleep(1)  # here", "", "sleeping"),
        ("while True:\n    try:\n        urlopen(url)\n        break\n    except OSError:\n        time.sleep(1)  # here", "", "network"),
        ("while True:\n    if os.path.exists(done): break\n    time.sleep(1)  # here", "", "file"),
        ("os.system('rsync a b')  # here", "", "child"),
        ("dist.TCPStore(host, 0, 2, True)  # here", "hrtimer_nanosleep", "meeting"),
        ("call()  # here", "do_wait", "child"),
        ("self.stream.flush()  # here", "", "file"),
        ("call()  # here", "pipe_write", "file"),
        ("poller.poll()  # here", "", "network"),
        ("call()  # here", "hrtimer_nanosleep", "sleeping"),
        ("signal.pause()  # here", "", "sleeping"),
        ("found = sigwait({signal.SIGUSR1})  # here", "do_sigtimedwait", "sleeping"),
    ],
)
def test_what_a_late_rank_waits_for(tmp_path: Path, text: str, kernel: str, cause: str) -> None:
    source = Source(tmp_path, text + "\n")
    waiting = Rank(0, True, 1000, "S", ((StackFrame(C10D, 9, "barrier"), StackFrame("/app/train.py", 3, "train")),))
    assert judge([waiting, source.rank(1, "here", kernel=kernel)], 2).cause == cause


QUEUE = (
    StackFrame("/usr/lib/python3.11/multiprocessing/connection.py", 395, "_recv"),
    StackFrame("/usr/lib/python3.11/multiprocessing/connection.py", 216, "recv_bytes"),
    StackFrame("/usr/lib/python3.11/multiprocessing/queues.py", 103, "get"),
)


@pytest.mark.parametrize(
    ("further", "cause"),
    [((), "lock"), ((StackFrame("/env/lib/python3.11/site-packages/torch/utils/data/dataloader.py", 1291, "_try_get_data"),), "loader")],
)
def test_a_queue_of_processes_is_only_a_loader_where_a_loader_asks(further: tuple[StackFrame, ...], cause: str) -> None:
    waiting = Rank(0, True, 1000, "S", ((StackFrame(C10D, 9, "barrier"), StackFrame("/app/train.py", 3, "train")),))
    stack = (*QUEUE, *further, StackFrame("/app/train.py", 9, "rows"))
    assert judge([waiting, Rank(1, True, 1001, "S", (stack,))], 2).cause == cause


def test_a_rank_that_sleeps_while_the_others_form_the_group_never_joined(tmp_path: Path) -> None:
    source = Source(tmp_path, "time.sleep(900)  # sleeps\nheld.acquire()  # locked\ninit_process_group()  # joins\n")
    joins = [source.rank(number, "joins", collective="init_process_group") for number in (0, 1)]
    assert late(judge([*joins, source.rank(2, "sleeps", kernel="hrtimer_nanosleep")], 3)) == ("meeting", [2])
    assert late(judge([*joins, source.rank(2, "locked")], 3)) == ("lock", [2])


RETURNS = """\
def evaluate(rows):
    for row in rows:
        gather(row)  # gathers
def train():
    evaluate(rows)  # evaluates
    if loss < 2:
        evaluate(rows)  # only-some
    wait_for_everyone()  # after
"""


def test_a_rank_that_returned_from_a_function_that_loops_ran_out_of_data(tmp_path: Path) -> None:
    source = Source(tmp_path, RETURNS)
    others = [source.rank(number, "evaluate/gathers", "evaluates", collective="all_gather") for number in (0, 1)]
    assert late(judge([*others, source.rank(2, "after", collective="barrier")], 3)) == ("data-ended", [2])


def test_a_rank_that_loops_in_a_branch_of_its_own_took_a_branch(tmp_path: Path) -> None:
    source = Source(tmp_path, RETURNS)
    others = [source.rank(number, "after", collective="barrier") for number in (0, 1)]
    assert late(judge([*others, source.rank(2, "evaluate/gathers", "only-some", collective="all_gather")], 3)) == ("branch", [2])


CLOSURE = """\
def training_step():
    if self.global_rank == 0:
        all_gather()  # gathers
def closure():
    training_step()  # steps
    if self.backward is not None:
        self.backward()  # backward
"""


def test_a_branch_that_the_other_rank_has_not_come_to_is_no_way_apart(tmp_path: Path) -> None:
    source = Source(tmp_path, CLOSURE)
    one = source.rank(0, "training_step/gathers", "closure/steps", collective="all_gather")
    assert late(judge([one, source.rank(1, "closure/backward", collective="all_reduce")], 2)) == ("branch", [0])


def test_a_loop_of_asyncio_waits_for_the_network() -> None:
    stack = (
        StackFrame("/usr/lib/python3.11/selectors.py", 468, "select"),
        StackFrame("/usr/lib/python3.11/asyncio/base_events.py", 1884, "_run_once"),
        StackFrame("/app/train.py", 9, "upload"),
    )
    waiting = Rank(0, True, 1000, "S", ((StackFrame(C10D, 9, "barrier"), StackFrame("/app/train.py", 3, "train")),))
    assert judge([waiting, Rank(1, True, 1001, "S", (stack,))], 2).cause == "network"


@pytest.mark.parametrize("text", ["def train(:\n    pass\n", "\x00\x00", "("])
def test_a_file_that_is_no_python_has_no_blocks(tmp_path: Path, text: str) -> None:
    (tmp_path / "train.py").write_text(text)
    assert blocks_around(StackFrame(str(tmp_path / "train.py"), 1, "train")) == []
    assert blocks_around(StackFrame(str(tmp_path / "gone.py"), 1, "train")) == []
