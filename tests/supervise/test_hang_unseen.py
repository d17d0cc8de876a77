"""Hangs whose ranks stand in no collective, at the same line, or nowhere: a rank that failed or is done, one that asks again, a meeting."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.supervise.test_hang import C10D, GONE, frames
from tests.supervise.test_hang_judged import Source, late
from tests.supervise.test_hang_patience import ARRIVED, MAIN, PYTHON, SITE, Ranks
from troubleshooter.hang import notice
from troubleshooter.hang.busy import PATIENCE
from troubleshooter.hang.collectives import collective_of
from troubleshooter.hang.judge import judge, without_ranks
from troubleshooter.hang.look import NOTHING, Counters
from troubleshooter.hang.notice import ended_well, verdict_on
from troubleshooter.hang.ranks import Rank, ranks_of
from troubleshooter.hang.stacks import StackFrame
from troubleshooter.hang.tell import as_dict, lines
from troubleshooter.hook import ENDED

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

ORDER = """\
def average(group):
    all_reduce(group)  # same
def step():
    if rank == 1:
        average(copies)  # copies
    else:
        average(shards)  # shards
if rank == 1:
    step()  # called
else:
    step()  # called-elsewhere
"""


def test_ranks_at_the_same_line_of_a_helper_may_be_in_different_calls_of_it(tmp_path: Path) -> None:
    source = Source(tmp_path, ORDER)
    ranks = [
        source.rank(
            number,
            "average/same",
            "step/copies" if number == 1 else "step/shards",
            "<module>/called",
            collective="all_reduce",
        )
        for number in range(3)
    ]
    assert late(judge(ranks, 3)) == ("branch", [1])
    assert late(judge([ranks[1], ranks[0], ranks[2]], 3)) == ("branch", [1])


def test_a_script_that_some_ranks_enter_at_another_line_is_no_way_apart(tmp_path: Path) -> None:
    source = Source(tmp_path, ORDER)
    ranks = [
        source.rank(
            number,
            "average/same",
            "step/shards",
            f"<module>/{'called' if number == 1 else 'called-elsewhere'}",
            collective="all_reduce",
        )
        for number in range(3)
    ]
    assert late(judge(ranks, 3)) == ("shapes", [])


@pytest.mark.parametrize(
    ("line", "collective"),
    [("if self.reducer._rebuild_buckets():", "rebuild_buckets"), ("self.logger.set_runtime_stats()", "")],
)
def test_the_ranks_agree_on_the_buckets_of_ddp(tmp_path: Path, line: str, collective: str) -> None:
    folder = tmp_path / "site-packages/torch/nn/parallel"
    folder.mkdir(parents=True)
    (folder / "distributed.py").write_text(line + "\n")
    own = StackFrame("/app/train.py", 3, "step")
    assert collective_of((StackFrame(str(folder / "distributed.py"), 1, "_pre_forward"), own)) == collective


@pytest.mark.parametrize(
    ("text", "kernel", "cause"),
    [
        ("with saving:  # here", "", "lock"),
        ("with open(path) as file:  # here", "", "file"),
        ("rows = encode(texts)  # here", "futex_wait_queue", "lock"),
        ("rows = encode(texts)  # here", "ep_poll", "unknown"),
    ],
)
def test_a_lock_without_a_name_of_its_own(tmp_path: Path, text: str, kernel: str, cause: str) -> None:
    source = Source(tmp_path, text + "\n")
    waiting = Rank(0, True, 1000, "S", (frames((C10D, 9, "barrier"), ("/app/train.py", 3, "train")),))
    assert judge([waiting, source.rank(1, "here", kernel=kernel)], 2).cause == cause


def test_a_lock_below_torch_may_be_a_collective() -> None:
    waiting = Rank(0, True, 1000, "S", (frames((C10D, 9, "barrier"), ("/app/train.py", 3, "train")),))
    stack = frames((f"{SITE}/torch/cuda/__init__.py", 9, "synchronize"), ("/app/train.py", 3, "train"))
    assert judge([waiting, Rank(1, True, 1001, "S", (stack,), (), 0.0, "futex_wait_queue")], 2).cause == "unknown"


# --- a rank that is gone, while nobody is in a collective ---

POLLS = frames(("/app/train.py", 25, "tokenized"), MAIN)
MAILS = frames((f"{PYTHON}/socket.py", 706, "readinto"), (f"{PYTHON}/smtplib.py", 398, "getreply"), MAIN)


def left(*stacks: tuple[StackFrame, ...]) -> list[Rank]:
    return [Rank(number, True, 1000 + number, "S", (stack,)) for number, stack in enumerate(stacks, 3 - len(stacks))]


def test_the_others_wait_for_a_rank_that_failed_wherever_they_are() -> None:
    verdict = judge(left(POLLS, POLLS), 3, ended_well=False)
    assert (verdict.cause, verdict.missing, verdict.late) == ("ended", [0], [])
    assert any("/app/train.py:25" in line for line in lines(verdict, "en"))


def test_the_last_rank_at_work_waits_for_nobody() -> None:
    verdict = judge(left(MAILS), 3, ended_well=True)
    assert (late(verdict), verdict.missing) == (("network", [2]), [])
    assert late(judge(left(MAILS), 3)) == ("ended", [2])


def test_who_waits_in_a_collective_waits_for_a_rank_however_that_ended() -> None:
    for well in (True, False, None):
        verdict = judge(left(ARRIVED, ARRIVED), 3, ended_well=well)
        assert (verdict.cause, verdict.missing, len(verdict.waiting)) == ("ended", [0], 2)


def test_a_killed_rank_that_nobody_reaped_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("troubleshooter.hang.ranks.environment_of", lambda pid: {"RANK": str(pid - GONE)})
    for number in (0, 1):
        (tmp_path / f"{GONE + number}.stacks").touch()
    look = Ranks(0, ("S", POLLS), ("Z", ()))
    look.folder = tmp_path
    assert ended_well(look, [Rank(0, True, GONE, "S", (POLLS,))], 2) is None


@pytest.mark.parametrize(
    ("files", "well"),
    [
        ((f"{GONE}.stacks",), True), ((f"{GONE}.stacks", "1-77.crash.json"), False), ((f"{GONE}.stacks", "0-77.crash.json"), True),
        ((f"{GONE}.stacks", "77.stacks"), None), ((f"{GONE}.stacks", "77-ended.stacks"), True), ((), None),
    ],
)  # fmt: skip
def test_the_files_of_the_hook_tell_how_a_rank_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], well: bool | None
) -> None:
    monkeypatch.setattr(notice, "numbers_of", lambda processes: {0})
    for name in files:
        (tmp_path / name).write_bytes(b"Thread 0x1 (most recent call first):" + ENDED if "ended" in name else b"")
    look = Ranks(0, ("S", POLLS))
    look.folder = tmp_path
    rank = Rank(0, True, GONE, "S", (POLLS,))
    assert ended_well(look, [rank], 2) is well
    assert ended_well(look, [rank], 1) is None


@pytest.mark.parametrize(("crashed", "told"), [(True, True), (False, False)])
def test_ranks_that_poll_often_are_told_if_a_rank_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crashed: bool, told: bool
) -> None:
    monkeypatch.setattr(notice, "world_size", lambda ranks: 2)
    monkeypatch.setattr("troubleshooter.hang.ranks.environment_of", lambda pid: {"RANK": "0"})
    for name in [f"{GONE}.stacks", *(["1-77.crash.json"] if crashed else ["77.stacks"])]:
        (tmp_path / name).touch()
    before, now = (Ranks(at, ("S", POLLS)) for at in (0, 10))
    before.folder = now.folder = tmp_path
    now.at_start = {GONE: NOTHING._replace(all_wakes=100, wakes=100)}
    assert (verdict_on(before, now) is not None) == told


# --- the network ---


def wakes(look: Ranks, main: int, others: int) -> Ranks:
    look.at_start = {**look.at_start, GONE + 1: NOTHING._replace(wakes=main, all_wakes=main + others)}
    return look


@pytest.mark.parametrize(("main", "others", "told"), [(10, 0, True), (10, 1, True), (10, 5, False)])
def test_a_wait_with_a_time_limit_for_the_thread_that_reads(main: int, others: int, told: bool) -> None:
    waits = frames(
        (f"{PYTHON}/threading.py", 331, "wait"),
        (f"{SITE}/fsspec/asyn.py", 94, "sync"),
        ("/app/train.py", 9, "config"),
        MAIN,
    )
    before, now = (Ranks(at, ("S", ARRIVED), ("S", waits)) for at in (0, 10))
    assert (verdict_on(before, wakes(now, main, others)) is not None) == told


def test_who_reads_itself_and_wakes_up_gets_its_answer() -> None:
    before, now = (Ranks(at, ("S", ARRIVED), ("S", MAILS)) for at in (0, 10))
    assert verdict_on(before, wakes(now, 1, 0)) is not None
    assert verdict_on(before, wakes(now, 2, 0)) is None


def test_a_service_that_is_asked_again_and_again_is_told_after_a_longer_silence(tmp_path: Path) -> None:
    own = tmp_path / "train.py"
    own.write_text("while True:\n    try:\n        requests.get(url)\n    except OSError:\n        time.sleep(1)\n")
    asks = frames((str(own), 5, "healthy"), MAIN)
    before, now = (Ranks(at, ("S", ARRIVED), ("S", asks)) for at in (0, 10))
    assert verdict_on(before, wakes(now, 10, 0), patience=PATIENCE) is None
    verdict = verdict_on(before, wakes(now, 10, 0), patience=PATIENCE + 0.1)
    assert verdict is not None
    assert late(verdict) == ("network", [1])


@pytest.mark.parametrize(
    ("name", "wakes"), [("gloo_tcp_loop", 3), ("pt_gloo_runloop", 3), ("python", 10), ("Thread-1", 10)]
)
def test_the_threads_of_the_collectives_are_no_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, wakes: int
) -> None:
    for number, comm, count in (("9", "python", 3), ("10", name, 7)):
        (tmp_path / "task" / number).mkdir(parents=True)
        (tmp_path / "task" / number / "comm").write_text(comm + "\n")
        (tmp_path / "task" / number / "status").write_text(f"Name:\t{comm}\nvoluntary_ctxt_switches:\t{count}\n")
    monkeypatch.setattr("troubleshooter.hang.look.Path", lambda path: tmp_path)
    found = Counters.of(9)
    assert (found.wakes, found.all_wakes) == (3, wakes)


# --- the group is never formed ---

RENDEZVOUS = f"{SITE}/torch/distributed/rendezvous.py"
CREATES = frames((RENDEZVOUS, 199, "_create_c10d_store"), (C10D, 1892, "init_process_group"), MAIN)
JOINS = frames((C10D, 2169, "_new_process_group_helper"), (C10D, 1899, "init_process_group"), MAIN)


@pytest.mark.parametrize(
    ("stacks", "outside"),
    [
        ((CREATES, JOINS, CREATES), [2]),
        ((CREATES, CREATES), []),
        ((JOINS, JOINS, JOINS), []),
        ((CREATES, JOINS, JOINS), []),
    ],
)
def test_a_rank_that_has_not_reached_the_store_is_the_one_that_did_not_arrive(
    stacks: tuple[tuple[StackFrame, ...], ...], outside: list[int]
) -> None:
    ranks = [Rank(number, True, 1000 + number, "S", (stack,)) for number, stack in enumerate(stacks)]
    assert late(judge(ranks, len(ranks))) == ("meeting", outside)


def test_a_launcher_that_waits_for_other_nodes_has_no_ranks() -> None:
    elastic = f"{SITE}/torch/distributed/elastic"
    meets = frames(
        (f"{elastic}/utils.py", 181, "_delay"), (f"{elastic}/rendezvous/dynamic_rendezvous.py", 1171, "next_rendezvous"),
        (f"{elastic}/agent/server/api.py", 528, "_rendezvous"),
    )  # fmt: skip
    runs = frames((f"{elastic}/agent/server/api.py", 916, "_invoke_run"), MAIN)
    before, now = (Ranks(at, ("S", meets)) for at in (0, 10))
    assert verdict_on(before, now, patience=PATIENCE) is None
    verdict = verdict_on(before, now, patience=PATIENCE + 0.1)
    assert verdict is not None
    assert verdict.cause == "meeting"
    assert lines(verdict, "en")[0].startswith("No rank has started")
    assert verdict_on(Ranks(0, ("S", runs)), now, patience=100.0) is None


# --- no rank ---

LAUNCHER = frames(
    (f"{SITE}/torch/distributed/elastic/rendezvous/dynamic_rendezvous.py", 1200, "next_rendezvous"),
    (f"{SITE}/torch/distributed/elastic/agent/server/api.py", 700, "_rendezvous"), MAIN,
)  # fmt: skip


def test_a_launcher_without_ranks_says_what_processes_there_are() -> None:
    before, now = (Ranks(at, ("S", LAUNCHER)) for at in (0, 10))
    assert verdict_on(before, now, patience=PATIENCE) is None
    verdict = verdict_on(before, now, patience=PATIENCE + 0.1)
    assert verdict is not None
    told = as_dict(verdict)
    assert (told["cause"], told["ranks"], told["no_ranks"]) == ("meeting", [], "the launcher waits for those of other nodes")
    (process,) = told["processes"]
    assert (process["pid"], process["name"], process["state"]) == (GONE, "python", "S")
    assert process["stack"][0] == {"file": LAUNCHER[0].file, "line": 1200, "function": "next_rendezvous"}
    said = "\n".join(lines(verdict, "en"))
    assert "No rank has started" in said
    assert f"process {GONE} (python) is at {LAUNCHER[0].file}:1200, next_rendezvous" in said


def test_processes_of_which_none_is_a_rank() -> None:
    look = Ranks(0, ("S", frames((f"{SITE}/torch/distributed/elastic/agent/server/api.py", 700, "_monitor"), MAIN)))
    verdict = without_ranks(look.processes, {})
    told = as_dict(verdict)
    assert (told["cause"], told["no_ranks"], told["processes"][0]["stack"]) == ("unknown", "no process has a rank", [])
    assert lines(verdict, "en") == ["None of these processes is a rank.", f"  process {GONE} (python) is at ?"]


def test_a_run_with_ranks_lists_no_other_processes() -> None:
    look = Ranks(0, ("S", ARRIVED), ("S", frames(MAIN)))
    told = as_dict(judge(ranks_of(look.processes, look.stacks), 2))
    assert (len(told["ranks"]), told["no_ranks"], told["processes"], told["loops"]) == (2, None, [], [])
