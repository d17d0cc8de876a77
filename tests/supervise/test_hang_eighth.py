"""Hangs that the eighth set of them showed: ranks that a script starts itself, workers of a loader that loop, waits that no frame of torch tells."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.supervise.test_hang import GONE, frames
from tests.supervise.test_hang_judged import Source, late
from tests.supervise.test_hang_patience import ARRIVED, MAIN, PYTHON, SITE, Ranks
from tests.supervise.test_hang_unseen import wakes
from tests.waiting import wait_for
from troubleshooter.hang import launched, ranks
from troubleshooter.hang.busy import LOOP_PATIENCE, loops_in_own_code
from troubleshooter.hang.collectives import collective_of
from troubleshooter.hang.judge import judge
from troubleshooter.hang.notice import MAKES_MB, verdict_on
from troubleshooter.hang.ranks import failed_beside, ranks_of
from troubleshooter.hang.stacks import Stack, StackFrame

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

# --- ranks that a script starts itself ---

LAUNCHER, RANK_0, RANK_1, RANK_2, HELPER = range(GONE, GONE + 5)
TAKES = frames((f"{PYTHON}/multiprocessing/queues.py", 103, "get"), ("/app/serve.py", 30, "<module>"))


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Ranks:
    """A script that waits for answers of three ranks; the second one was killed, and the third has a process of its own."""
    look = Ranks(0, *[("S", TAKES)] * 5)
    parents = {LAUNCHER: 1, HELPER: RANK_2}
    look.processes = [
        one._replace(parent=parents.get(one.pid, LAUNCHER), state="Z" if one.pid == RANK_1 else "S", started=one.pid) for one in look.processes
    ]
    del look.stacks[RANK_1]
    monkeypatch.setattr(launched, "is_in_group", {RANK_0, RANK_2}.__contains__)
    monkeypatch.setattr(launched, "ended_badly", {RANK_1}.__contains__)
    return look


def test_the_script_that_started_the_ranks_is_none_of_them(servers: Ranks) -> None:
    assert [(one.number, one.pid) for one in ranks_of(servers.processes, servers.stacks)] == [(0, RANK_0), (2, RANK_2)]


def test_a_killed_rank_that_its_script_has_not_noticed(servers: Ranks) -> None:
    assert failed_beside(servers.processes, ranks_of(servers.processes, servers.stacks)) == {1}
    verdict = verdict_on(servers, servers)
    assert verdict is not None
    assert (verdict.cause, verdict.late, verdict.missing) == ("ended", [], [1])


def test_a_rank_that_ended_well_is_not_missing(servers: Ranks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launched, "ended_badly", lambda pid: False)
    found = ranks_of(servers.processes, servers.stacks)
    assert ([one.number for one in found], failed_beside(servers.processes, found)) == ([0, 2], frozenset())


@pytest.mark.parametrize("in_group", [set(), {LAUNCHER, RANK_0}, {RANK_0, HELPER}])
def test_it_is_not_known_who_started_the_ranks(servers: Ranks, monkeypatch: pytest.MonkeyPatch, in_group: set[int]) -> None:
    monkeypatch.setattr(launched, "is_in_group", in_group.__contains__)
    assert [one.pid for one in ranks_of(servers.processes, servers.stacks)] == [LAUNCHER, RANK_0, RANK_2, HELPER]


def test_the_number_of_the_environment_counts_first(servers: Ranks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "environment_of", lambda pid: {RANK_0: {"RANK": "4"}, RANK_2: {"RANK": "5"}}.get(pid, {}))
    found = ranks_of(servers.processes, servers.stacks)
    assert ([one.number for one in found], failed_beside(servers.processes, found)) == ([4, 5], frozenset())


@contextmanager
def unreaped(code: str) -> Iterator[int]:
    """A process that has ended, and whose end nobody has asked for."""
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as one:
        os.waitid(os.P_PID, one.pid, os.WEXITED | os.WNOWAIT)
        yield one.pid


@pytest.mark.parametrize(("code", "badly"), [("", False), ("import os; os._exit(3)", True), ("import os; os.kill(os.getpid(), 9)", True)])
def test_how_a_process_ended_that_nobody_reaped(code: str, badly: bool) -> None:
    with unreaped(code) as pid:
        assert launched.ended_badly(pid) is badly
    assert not launched.ended_badly(pid)


def test_the_threads_of_a_group_are_told_by_their_names() -> None:
    code = (
        "import ctypes, threading, time\n"
        "def run():\n    ctypes.CDLL(None).prctl(15, b'pt_gloo_runloop')\n    time.sleep(900)\n"
        "threading.Thread(target=run, daemon=True).start()\ntime.sleep(900)"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as one:
        try:
            wait_for(lambda: launched.is_in_group(one.pid))
        finally:
            one.kill()
    assert not launched.is_in_group(os.getpid())


# --- a worker of a data loader that never leaves a loop ---

ROWS = """\
def __getitem__(self, at):
    while True:
        try:
            return json.loads(self.lines[at])  # reads
        except ValueError:
            at = at + 1  # next
def stream(self):
    while True:
        yield self.row()  # yields
def row(self):
    return json.loads(self.line)  # row
def collate(rows):
    for row in rows:
        json.loads(row)  # each
"""
LOADER = f"{SITE}/torch/utils/data"
FETCHES = frames((f"{LOADER}/_utils/fetch.py", 54, "fetch"), (f"{LOADER}/_utils/worker.py", 351, "_worker_loop"))
ASKS = frames((f"{LOADER}/dataloader.py", 1291, "_try_get_data"), MAIN)
DECODES = StackFrame(f"{PYTHON}/json/decoder.py", 353, "raw_decode")


class Loads(Ranks):
    """A rank that waits for its loader, whose worker computes, beside one that waits for it. Further questions find the worker at ``later``."""

    def __init__(self, at: float, worker: Stack, later: Stack | None = None) -> None:
        super().__init__(at, ("S", ARRIVED), ("S", ASKS), ("R", worker))
        self.processes = [one._replace(parent=GONE + 1) if one.state == "R" else one for one in self.processes]
        self.later = worker if later is None else later

    def further_stacks(self, pid: int) -> list[Stack]:
        assert pid == GONE + 2
        return [self.later] * 5


def test_a_worker_that_never_leaves_its_loop(tmp_path: Path) -> None:
    source = Source(tmp_path, ROWS)
    reads = (DECODES, source.frame("reads", "__getitem__"), *FETCHES)
    follows = (source.frame("next", "__getitem__"), *FETCHES)
    before, now = Loads(0, reads), Loads(10, reads, later=follows)
    assert verdict_on(before, now, patience=LOOP_PATIENCE) is None
    verdict = verdict_on(before, now, patience=LOOP_PATIENCE + 0.1)
    assert verdict is not None
    assert late(verdict) == ("loader", [1])
    assert verdict_on(before, Loads(10, follows, later=FETCHES), patience=100.0) is None
    assert verdict_on(before, now, patience=100.0, past=[Loads(-10, FETCHES)]) is None
    now.processes = [one._replace(rss_mb=one.rss_mb + MAKES_MB + 0.1) for one in now.processes]
    assert verdict_on(before, now, patience=100.0) is None


def test_a_worker_at_work_is_in_no_endless_loop(tmp_path: Path) -> None:
    source = Source(tmp_path, ROWS)
    reads = source.frame("reads", "__getitem__")
    assert loops_in_own_code([(DECODES, reads, *FETCHES), (source.frame("next", "__getitem__"), *FETCHES)])
    for stack in (
        (DECODES, source.frame("row", "row"), source.frame("yields", "stream"), *FETCHES),
        (DECODES, source.frame("each", "collate"), *FETCHES),
        (DECODES, reads, *FETCHES),
        (StackFrame(f"{SITE}/PIL/Image.py", 9, "open"), source.frame("next", "__getitem__"), *FETCHES),
    ):
        assert not loops_in_own_code([stack] * 3)
        assert verdict_on(Loads(0, stack), Loads(10, stack), patience=100.0) is None


# --- waits that no frame of torch tells ---


@pytest.mark.parametrize(
    ("text", "collective"),
    [("self.barrier()", "barrier"), ("group.monitored_barrier()", "monitored_barrier"), ("threading.Barrier(2)", ""), ("barriers(3)", "")],
)
def test_a_groups_own_barrier_is_written_in_cpp(tmp_path: Path, text: str, collective: str) -> None:
    source = Source(tmp_path, f"{text}  # here\n")
    assert collective_of((source.frame("here"),)) == collective
    assert collective_of((StackFrame(f"{PYTHON}/threading.py", 331, "wait"), source.frame("here"))) == ""


EXCHANGE = """\
def exchange():
    for work in dist.batch_isend_irecv(todo):
        work.wait()  # waits
def train():
    for batch in rows:
        dist.all_reduce(batch)  # in-loop
exchange()  # called
train()  # trained
dist.barrier()  # after
"""


def test_who_waits_for_what_was_started_is_in_no_loop_over_data(tmp_path: Path) -> None:
    source = Source(tmp_path, EXCHANGE)
    others = [source.rank(at, "<module>/after", collective="barrier") for at in (1, 2)]
    assert late(judge([source.rank(0, "exchange/waits", "<module>/called"), *others], 3)) == ("branch", [0])
    in_loop = source.rank(0, "train/in-loop", "<module>/trained", collective="all_reduce")
    assert late(judge([in_loop, *others], 3)) == ("data-ended", [0])


def test_a_connection_that_is_not_given_back_is_no_slow_download() -> None:
    pool = frames(
        (f"{PYTHON}/threading.py", 327, "wait"), (f"{PYTHON}/queue.py", 171, "get"), (f"{SITE}/urllib3/connectionpool.py", 280, "_get_conn"),
        (f"{SITE}/requests/adapters.py", 696, "send"), ("/app/train.py", 9, "shards"), MAIN,
    )  # fmt: skip
    before, now = (Ranks(at, ("S", ARRIVED), ("S", pool)) for at in (0, 10))
    verdict = verdict_on(before, wakes(now, 0, 20))
    assert verdict is not None
    assert late(verdict) == ("lock", [1])
