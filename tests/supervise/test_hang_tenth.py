"""Hangs that the tenth set of them showed: stopped programs, threads that meet, recorded collectives, left-out backward passes, pools that fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.supervise.running import ENVIRONMENT
from tests.supervise.test_hang import C10D, GONE, frames
from tests.supervise.test_hang_judged import TORCH, Source, late
from tests.supervise.test_hang_patience import ARRIVED, MAIN, PYTHON, Ranks
from troubleshooter import hook
from troubleshooter.hang import recorded
from troubleshooter.hang.busy import PATIENCE
from troubleshooter.hang.collectives import collective_of
from troubleshooter.hang.failed import LEAST_FAILED, awaits_failing_pool
from troubleshooter.hang.flight import Collective
from troubleshooter.hang.judge import HangVerdict, judge
from troubleshooter.hang.notice import verdict_on
from troubleshooter.hang.ranks import Rank, ranks_of
from troubleshooter.hang.recorded import RankRecord, with_recorded
from troubleshooter.hang.stacks import StackFrame
from troubleshooter.hang.tell import as_dict, lines
from troubleshooter.supervise.beside import Beside
from troubleshooter.supervise.command import Wishes
from troubleshooter.supervise.state import ProcessState

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")
ENGINE = StackFrame(f"{TORCH}/autograd/graph.py", 979, "_engine_run_backward")
RUNS = frames((f"{PYTHON}/subprocess.py", 2004, "_try_wait"), ("/app/train.py", 27, "convert"), MAIN)

# --- a program that was stopped ---


def test_a_rank_waits_for_its_stopped_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program has its rank's number, and tells no stack."""
    look = Ranks(0, ("S", ARRIVED), ("S", RUNS), ("T", ()))
    look.processes = [*look.processes[:2], look.processes[2]._replace(parent=GONE + 1)]
    del look.stacks[GONE + 2]
    monkeypatch.setattr("troubleshooter.hang.ranks.environment_of", lambda pid: {"RANK": "0" if pid == GONE else "1"})
    assert [(one.number, one.pid) for one in ranks_of(look.processes, look.stacks)] == [(0, GONE), (1, GONE + 1)]
    verdict = verdict_on(look, look)
    assert verdict is not None
    assert late(verdict) == ("child", [1])


def test_an_error_of_the_watch_for_hangs_ends_the_watch_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Watch:
        def __init__(self, *given: object) -> None:
            pass

        def tick(self, silence: float) -> None:
            raise KeyError(26086)

    monkeypatch.setattr("troubleshooter.hang.notice.HangWatch", Watch)
    noted: dict[str, object] = {}
    folder = SimpleNamespace(file=lambda name: tmp_path / name, log=None, note=lambda **facts: noted.update(facts))
    supervisor: Any = SimpleNamespace(pid=os.getpid(), command=["sleep", "1"], folder=folder, last_output=0.0, signal=None)
    beside = Beside(supervisor, Wishes(stop_early=False, hang_after=0.1, hook=True, entries=[], lang="en", history=None))
    beside.tick()
    assert noted["no_watch_for_hangs"] == "KeyError: 26086"
    noted.clear()
    beside.tick()
    assert "no_watch_for_hangs" not in noted
    beside.close()


# --- threads that meet ---

MEETS = frames((C10D, 4287, "all_gather"), (C10D, 3513, "all_gather_object"), ("/app/train.py", 26, "report"), (f"{PYTHON}/threading.py", 982, "run"))
WRITES = frames((f"{PYTHON}/queue.py", 171, "get"), ("/app/train.py", 30, "write"), (f"{PYTHON}/threading.py", 982, "run"))


@pytest.mark.parametrize(
    ("threads", "apart"),
    [
        ((MEETS, WRITES), ("branch", [1])),
        ((WRITES, MEETS), ("branch", [0])),
        ((MEETS, MEETS, WRITES), ("branch", [2])),
        ((WRITES, WRITES, MEETS), ("branch", [2])),
        ((MEETS, MEETS), ("shapes", [])),
        ((WRITES, WRITES), ("shapes", [])),
    ],
)
def test_ranks_whose_threads_meet_in_another_order(threads: tuple, apart: tuple[str, list[int]]) -> None:
    ranks = [Rank(at, True, 1000 + at, "S", (ARRIVED, thread)) for at, thread in enumerate(threads)]
    verdict = judge(ranks, len(ranks))
    assert late(verdict) == apart
    if apart == ("branch", [1]):
        assert verdict.collective == "all_gather_object"
        assert [one.own for one in verdict.waiting] == [MEETS[2]]


# --- what torch recorded of the collectives ---

ALL = frozenset((0, 1, 2))


def record(*rows: tuple[str, int, str, str, bool], groups: dict[str, frozenset[int]] | None = None, root: int | None = None) -> RankRecord:
    """What a rank tells. A row: group, number, operation, sizes, and whether the rank waits in it."""
    collectives = [Collective(number, group, name, "scheduled" if waits else "completed", sizes, "[Float]", "") for group, number, name, sizes, waits in rows]
    return RankRecord(groups or {"0": ALL}, collectives, root)


def judged(monkeypatch: pytest.MonkeyPatch, *records: RankRecord) -> HangVerdict:
    """The verdict on ranks that all wait at the same line."""
    monkeypatch.setattr(recorded, "ask", lambda ranks, folder: dict(enumerate(records)))
    ranks = [Rank(at, True, 1000 + at, "S", (ARRIVED,)) for at in range(len(records))]
    return with_recorded(judge(ranks, len(ranks)), ranks, None)


def at(number: int, name: str = "all_reduce", sizes: str = "[[4]]", *, root: int | None = None) -> RankRecord:
    return record(("0", number - 1, "all_reduce", "[[4]]", False), ("0", number, name, sizes, True), root=root)


@pytest.mark.parametrize(
    ("records", "apart", "differs"),
    [
        ((at(5), at(5), at(5)), ("shapes", []), None),
        ((at(5), at(5), at(5, sizes="[[3]]")), ("shapes", [2]), "sizes"),
        ((at(5), at(5, sizes="[[3]]")), ("shapes", []), "sizes"),
        ((at(5), at(5, "all_gather"), at(5)), ("branch", [1]), "operation"),
        ((at(5, "all_gather"), at(5)), ("branch", [0]), "operation"),  # the rarer one
        ((at(5, "all_gather"), at(5, "barrier")), ("branch", []), "operation"),
        ((at(5, "gather", root=0), at(5, "gather", root=0), at(5, "gather", root=2)), ("branch", [2]), None),
        ((at(5, "gather", root=0), at(5, "gather", root=1)), ("shapes", []), None),
        ((at(5, "gather"), at(5, "gather", "[[3]]"), at(5, "gather")), ("shapes", []), None),
    ],
)
def test_ranks_at_the_same_line_differ_in_what_is_recorded(
    monkeypatch: pytest.MonkeyPatch, records: tuple[RankRecord, ...], apart: tuple[str, list[int]], differs: str | None
) -> None:
    verdict = judged(monkeypatch, *records)
    assert late(verdict) == apart
    assert (None if verdict.apart is None else verdict.apart.what) == differs
    told = "\n".join(lines(verdict, "en"))
    assert ("the ranks pass different sizes" in told) == (differs == "sizes")
    assert (as_dict(verdict)["differs"] is not None) == (differs is not None)


PAIR = {"0": ALL, "1": frozenset((0, 2))}


@pytest.mark.parametrize(
    ("records", "apart"),
    [
        (  # the smaller group tells who is missing in it
            (record(("1", 1, "all_reduce", "[[4]]", True), groups=PAIR), at(3), at(3)), ("branch", [2]),
        ),
        ((at(3), record(("1", 1, "all_reduce", "[[4]]", True), groups={**PAIR, "1": ALL}), at(3)), ("branch", [1])),
        (  # two ranks in two groups of the same ranks: either may be meant
            (record(("1", 1, "all_reduce", "[[4]]", True), groups={"0": frozenset((0, 1)), "1": frozenset((0, 1))}), record(("0", 3, "all_reduce", "[[4]]", True), groups={"0": frozenset((0, 1)), "1": frozenset((0, 1))})),
            ("shapes", []),
        ),
        ((at(3), at(3), RankRecord({}, [])), ("shapes", [])),
    ],
)  # fmt: skip
def test_the_rank_that_is_missing_in_a_group(monkeypatch: pytest.MonkeyPatch, records: tuple[RankRecord, ...], apart: tuple[str, list[int]]) -> None:
    assert late(judged(monkeypatch, *records)) == apart


def test_ranks_that_do_not_tell_are_judged_by_their_stacks(tmp_path: Path) -> None:
    ranks = [Rank(at, True, GONE + at, "S", (ARRIVED,)) for at in range(2)]
    (tmp_path / f"{GONE}.ask").write_text("no number")
    (tmp_path / f"{GONE + 1}.ask").write_text("5 77")
    assert recorded.ask(ranks, tmp_path) == {}
    assert late(with_recorded(judge(ranks, 2), ranks, tmp_path)) == ("shapes", [])


def test_nothing_is_written_to_another_pipe(tmp_path: Path) -> None:
    """The number of a process that is gone may belong to another one."""
    source, sink = os.pipe()
    os.set_blocking(source, False)
    for inode in (os.fstat(sink).st_ino + 1, os.fstat(sink).st_ino):
        (tmp_path / f"{os.getpid()}.ask").write_text(f"{sink} {inode}")
        assert recorded.ask([Rank(0, True, os.getpid(), "S", ())], tmp_path) == {}
        if inode != os.fstat(sink).st_ino:
            with pytest.raises(BlockingIOError):
                os.read(source, 1)
    assert os.read(source, 9) == b"?"
    os.close(source)
    os.close(sink)


@pytest.mark.parametrize("text", ["", "[]", '{"groups": 3}', '{"groups": {}, "collectives": [{"number": "x"}]}'])
def test_what_is_no_answer_tells_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "1.recorded.json").write_text(text)
    assert recorded.read(tmp_path / "1.recorded.json") == RankRecord({}, [])


ASKED = """
import os, sys, types
from troubleshooter import hook
hook.install()
class World:
    pg_names, pg_group_ranks = {7: "0"}, {7: {0: 0, 1: 1}}
def helper(*words, **options):
    "Makes a group."
    return words, options
c10d, native = types.ModuleType("torch.distributed.distributed_c10d"), types.ModuleType("torch._C._distributed_c10d")
c10d._new_process_group_helper, c10d._world = helper, World
row = {"process_group": ("0", "default"), "collective_seq_id": 4, "profiling_name": "gloo:all_reduce", "input_sizes": [[4]], "input_dtypes": ["Float"], "retired": False, "is_p2p": False}
import pickle
native._dump_fr_trace = lambda *words: pickle.dumps({"entries": [row, {**row, "is_p2p": True}]})
sys.modules[c10d.__name__], sys.modules[native.__name__] = c10d, native
hook._patch_groups(c10d)
assert not os.path.exists(os.environ["TROUBLESHOOT_HOOK_DIR"] + "/%d.ask" % os.getpid())
assert c10d._new_process_group_helper(2, group=3) == ((2,), {"group": 3}) == c10d._new_process_group_helper(2, group=3)
assert c10d._new_process_group_helper.__doc__ == "Makes a group."
import threading
assert threading.active_count() == 1
exec(compile("def broadcast(src): print(os.getpid(), flush=True), sys.stdin.read()", "/torch/distributed/distributed_c10d.py", "exec"))
broadcast(1)
"""


def test_a_process_tells_what_is_recorded_while_its_main_thread_waits(tmp_path: Path) -> None:
    given = {**ENVIRONMENT, "TROUBLESHOOT_HOOK_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", ASKED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given) as one:
        assert one.stdout is not None
        pid = int(one.stdout.readline())
        for _ in range(2):
            found = recorded.ask([Rank(0, True, pid, "S", ())], tmp_path)
            assert found == {0: RankRecord({"0": frozenset((0, 1))}, [Collective(4, "0", "all_reduce", "scheduled", "[[4]]", "['Float']", "")], 1)}
        one.communicate(b"")
    assert one.returncode == 0
    assert not (tmp_path / f"{pid}.ask").exists()


# --- a question that comes too late ---

@pytest.mark.parametrize("number", ["signal.SIGUSR2", "signal.SIGRTMIN + 9"])
def test_a_question_after_the_end_of_python_ends_nothing(tmp_path: Path, number: str) -> None:
    """A process has no handlers any more while the libraries that it loaded end, or its threads stop."""
    code = f"""
import signal, os, sys
from troubleshooter import hook
hook.install()
class Late:
    def __del__(self, kill=os.kill, pid=os.getpid(), number=int({number})):
        kill(pid, number)
sys.late = Late()
"""
    given = {**ENVIRONMENT, "TROUBLESHOOT_HOOK_DIR": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", code], env=given, check=False).returncode == 0


def test_questions_while_a_process_ends_do_not_change_its_status(tmp_path: Path) -> None:
    code = """
import os, subprocess
from troubleshooter import hook
hook.install()
subprocess.Popen(["sh", "-c", f"while kill -USR2 {os.getpid()}; do :; done"], stderr=subprocess.DEVNULL)
"""
    given = {**ENVIRONMENT, "TROUBLESHOOT_HOOK_DIR": str(tmp_path)}
    ended = [subprocess.run([sys.executable, "-c", code], env=given, check=False).returncode for _ in range(3)]
    assert ended == [0] * 3


# --- a backward pass that one rank left out ---

TURNS = """\
def train(batches):
    for batch in batches:
        loss = model(batch)  # forward
        try:
            loss = penalty(loss)  # tried
        except RuntimeError:
            continue
        if step % 2:
            evaluate()  # at-times
        if is_main_process:
            probe()  # on-main
        loss.backward()  # backward
        dist.barrier()  # barrier
def once(batch):
    loss = model(batch)  # once-forward
    loss.backward()  # once-backward
def gathered(loss):
    if loss > 3:
        dist.all_gather(losses, loss)  # gathers
    dist.all_gather(losses, loss)  # always
while True:
    once(batch)  # again
once(batch)  # alone
"""


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        (("train/forward",), ("train/backward",), 0),
        (("gathered/always", "train/forward"), ("train/backward",), 0),
        (("once/once-forward", "<module>/again"), ("once/once-backward", "<module>/again"), 0),
        (("once/once-forward", "<module>/alone"), ("once/once-backward", "<module>/alone"), 1),
        (("train/tried",), ("train/backward",), 1),
        (("train/at-times",), ("train/backward",), 0),  # took the branch
        (("gathered/gathers", "train/forward"), ("train/backward",), 1),
        (("train/forward",), ("train/on-main",), 1),
        (("train/forward",), ("train/barrier",), 0),  # it was skipped
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_who_is_at_the_next_turn_left_the_backward_out(
    tmp_path: Path, first: tuple[str, ...], second: tuple[str, ...], apart: int, turned: bool
) -> None:
    source = Source(tmp_path, TURNS)
    waits, other = source.rank(0, *first, collective="all_gather"), source.rank(1, *second, collective="barrier")
    if "barrier" not in second[0]:
        other = other._replace(stacks=((ENGINE, *other.stack[1:]),))
        assert collective_of(other.stack) == "backward"
    ranks = [waits, other]
    if turned:
        ranks = [other._replace(number=0), waits._replace(number=1)]
    assert late(judge(ranks, 2)) == ("branch", [1 - apart if turned else apart])


# --- processes that fail again and again ---

MAPS = frames((f"{PYTHON}/threading.py", 327, "wait"), (f"{PYTHON}/multiprocessing/pool.py", 768, "get"), ("/app/train.py", 31, "prepare"), MAIN)


@pytest.mark.parametrize(("failed", "stays", "told"), [(LEAST_FAILED, False, True), (LEAST_FAILED - 1, False, False), (LEAST_FAILED, True, False)])
def test_a_pool_whose_workers_fail_as_they_start(tmp_path: Path, failed: int, stays: bool, told: bool) -> None:
    """A worker that is still there at the next look works."""
    before, now = (Ranks(at, ("S", ARRIVED), ("S", MAPS)) for at in (0, 10))
    for at in range(failed):
        (tmp_path / f"1-{GONE + 100 + at}.crash.json").write_text("{}")
    for look, pid in ((before, GONE + 50), (now, GONE + (50 if stays else 60))):
        look.folder = tmp_path
        worker = ProcessState(pid, GONE + 1, "python", "R", 1, 5.0, 1, 100.0, 7)
        look.processes = [*look.processes, worker]
        look.at_start = look.at_end = {**look.at_start, pid: look.at_start[GONE]}
    assert verdict_on(before, now) is None
    verdict = verdict_on(before, now, patience=PATIENCE + 0.1)
    assert (verdict is not None) == told
    if verdict is not None:
        assert late(verdict)[1] == [1]


def test_failed_processes_that_are_alive_or_of_another_rank_do_not_count(tmp_path: Path) -> None:
    rank = Rank(1, True, GONE + 1, "S", (MAPS,))
    for at in range(LEAST_FAILED):
        (tmp_path / f"1-{GONE + 100 + at}.crash.json").write_text("{}")
    assert awaits_failing_pool(rank, [], tmp_path)
    assert not awaits_failing_pool(rank, [GONE + 100], tmp_path)
    assert not awaits_failing_pool(rank._replace(number=0), [], tmp_path)
    assert not awaits_failing_pool(rank, [], None)
    joins = frames((f"{PYTHON}/multiprocessing/popen_fork.py", 43, "wait"), (f"{PYTHON}/multiprocessing/process.py", 149, "join"), MAIN)
    assert not awaits_failing_pool(rank._replace(stacks=(joins,)), [], tmp_path)  # it may start one after the other until one succeeds


def test_workers_that_fail_without_end_do_not_fill_the_folder(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import multiprocessing\nfrom troubleshooter import hook\nhook.MAX_FILES_OF_WORKERS, hook.MAX_FILES_OF_ALL = 3, 4\nhook.install()\n"
        "def work():\n    raise ValueError('no tokenizer')\n"
        "for _ in range(6):\n    one = multiprocessing.get_context('fork').Process(target=work)\n    one.start()\n    one.join()\nwork()\n"
    )
    facts = tmp_path / "facts"
    subprocess.run([sys.executable, str(script)], env={**ENVIRONMENT, hook.FOLDER_VARIABLE: str(facts)}, capture_output=True, timeout=120)
    assert len([*facts.iterdir()]) == 4  # three of six workers, and the program itself
