"""Hangs that the ninth set of them showed: ranks that wait for one and the same other rank, ranks that call functions of others, threads that look without end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.supervise.test_hang import GONE, frames
from tests.supervise.test_hang_judged import TORCH, Source, late
from tests.supervise.test_hang_patience import ARRIVED, PYTHON, Ranks
from tests.waiting import wait_for
from troubleshooter.hang.collectives import collective_of
from troubleshooter.hang.judge import judge
from troubleshooter.hang.look import Counters
from troubleshooter.hang.notice import verdict_on
from troubleshooter.hang.ranks import ranks_of
from troubleshooter.supervise.state import process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

# --- several ranks that wait for one ---

PIPELINE = """\
def forward(batch):
    dist.recv_object_list(
        received, src=rank - 1)  # before
    dist.recv(tensor, (self.rank - 1) % dist.get_world_size())  # left
def backward(batch):
    dist.recv_object_list(received, src=rank + 1)  # after
    dist.send(batch, stage + 1)  # unknown
    dist.send(batch, 1)  # first
    dist.recv(batch, src=dist.get_rank(group) + 1)  # grouped
dist.all_reduce(loss)  # all
"""


@pytest.mark.parametrize(
    ("places", "apart"),
    [
        (("after", "all", "before"), [1]),
        (("first", "all", "left"), [1]),
        (("after", "all", "before", "all"), [1]),
        (("after", "all", "first", "first"), [1]),
        (("unknown", "all", "before"), [0, 2]),
        (("grouped", "all", "before"), [0, 2]),
        (("all", "after", "before"), [1, 2]),
        (("all", "all", "before"), [2]),
    ],
)
def test_the_rank_for_which_all_who_wait_for_one_wait(tmp_path: Path, places: tuple[str, ...], apart: list[int]) -> None:
    source = Source(tmp_path, PIPELINE)
    called = {"all": "all_reduce", "unknown": "send", "first": "send", "left": "recv", "grouped": "recv"}
    ranks = [source.rank(at, f"step/{place}", collective=called.get(place, "recv_object_list")) for at, place in enumerate(places)]
    assert late(judge(ranks, len(ranks))) == ("branch", apart)


def test_a_line_that_cannot_be_read_names_no_rank(tmp_path: Path) -> None:
    source = Source(tmp_path, PIPELINE)
    ranks = [source.rank(at, f"step/{place}", collective="recv") for at, place in ((0, "after"), (2, "before"))]
    ranks.insert(1, source.rank(1, "step/all", collective="all_reduce"))
    source.path.write_text("no Python (\n")
    assert late(judge(ranks, 3))[0] == "branch"


# --- ranks that call functions of other ranks ---

API = f"{TORCH}/distributed/rpc/api.py"
CALLS = frames((API, 842, "rpc_sync"), (API, 99, "wrapper"), ("/app/train.py", 44, "train"))
ENDS = frames(
    (f"{PYTHON}/threading.py", 327, "wait"), (API, 257, "_all_gather"), (API, 320, "_wait_all_workers"), (API, 382, "shutdown"), ("/app/train.py", 55, "main"),
)  # fmt: skip
INTERNAL = (f"{TORCH}/distributed/rpc/internal.py", 209, "_run_function")


def test_who_waits_for_the_end_of_all_calls_stands_where_its_function_does(tmp_path: Path) -> None:
    source = Source(tmp_path, "def pull():\n    with lock:  # pulls\n        return weights\n")
    serving = (source.frame("pulls", "pull"), *frames(INTERNAL))
    assert (collective_of(CALLS), collective_of(ENDS)) == ("rpc_sync", "shutdown")
    before, now = (Ranks(at, ("S", ENDS), ("S", CALLS), ("S", CALLS)) for at in (0, 10))
    for look in (before, now):
        look.stacks[GONE] += [frames((f"{PYTHON}/queue.py", 171, "get")), serving, serving]
    verdict = verdict_on(before, now)
    assert verdict is not None
    assert late(verdict) == ("lock", [0])
    assert verdict.late[0].own == serving[0]


@pytest.mark.parametrize(("main", "other"), [(ENDS, CALLS), (frames(("/app/train.py", 60, "load")), ())])
def test_a_function_that_waits_itself_or_runs_beside_the_work_tells_nothing(main: tuple, other: tuple) -> None:
    look = Ranks(0, ("S", main), ("S", ARRIVED))
    look.stacks[GONE].append((*other, *frames(("/app/train.py", 9, "pull"), INTERNAL)))
    assert ranks_of(look.processes, look.stacks)[0].stack == main


# --- threads that look without end ---

SPINS = """
import ctypes, sys, threading, time
named = threading.Event()
def spin():
    ctypes.CDLL(None).prctl(15, sys.argv[1].encode())
    named.set()
    while True:
        pass
threading.Thread(target=spin, daemon=True).start()
named.wait()
print("ready", flush=True)
time.sleep(900)
"""


@pytest.mark.parametrize(("name", "counts"), [("TP_SHM_reactor", False), ("prefetcher", True)])
def test_a_thread_that_looks_without_end_is_not_at_work(name: str, counts: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", SPINS, name], stdout=subprocess.PIPE) as one:
        try:
            assert one.stdout is not None
            assert one.stdout.readline() == b"ready\n"
            state, before = process(one.pid), Counters.of(one.pid)
            assert state is not None
            wait_for(lambda: (process(one.pid) or state).cpu_s > state.cpu_s + 0.5)
            assert (Counters.of(one.pid).cpu_s - before.cpu_s > 0.25) is counts
        finally:
            one.kill()
