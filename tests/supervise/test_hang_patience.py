"""Ranks that compute, or look again and again: after which silence they count as hung. On stacks as they were recorded."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.supervise.test_hang import C10D, GONE, frames
from troubleshooter.hang.busy import ALONE_PATIENCE, LONGER_PATIENCE, PATIENCE
from troubleshooter.hang.look import NOTHING, Look
from troubleshooter.hang.notice import verdict_on
from troubleshooter.hang.ranks import ranks_of
from troubleshooter.hang.stacks import Stack
from troubleshooter.supervise.state import ProcessState

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")
SITE, PYTHON = "/env/lib/python3.11/site-packages", "/usr/lib/python3.11"
MAIN = ("/app/train.py", 90, "<module>")
ARRIVED = frames((C10D, 3252, "all_reduce"), ("/app/train.py", 40, "step"), MAIN)
IN_PATTERN = frames((f"{PYTHON}/re/__init__.py", 166, "match"), ("/app/clean.py", 7, "clean"), MAIN)
IN_LIBRARY = frames((f"{PYTHON}/random.py", 476, "sample"), ("/app/train.py", 27, "draw"), ("/app/train.py", 30, "pack"), MAIN)
IN_LOOP = frames(("/app/train.py", 31, "pack"), MAIN)
IN_TORCH = frames((f"{SITE}/torch/nn/functional.py", 2000, "linear"), ("/app/train.py", 30, "evaluate"), MAIN)
READS_JSON = frames((f"{PYTHON}/json/decoder.py", 353, "raw_decode"), ("/app/train.py", 12, "read"), MAIN)
MANAGER = f"{SITE}/multiprocess/managers.py"


class Ranks(Look):
    """A look at processes that nobody has. Those of state R compute."""

    def __init__(self, at: float, *ranks: tuple[str, Stack], returns: bool = False) -> None:
        self.at = self.ended = at
        self.folder = None
        self.processes = [ProcessState(GONE + n, 1, "python", state, 1, 5.0, 1, 100.0, 7) for n, (state, _) in enumerate(ranks)]
        self.at_start = self.at_end = dict.fromkeys((one.pid for one in self.processes), NOTHING)
        self.stacks = {GONE + n: [stack] for n, (_, stack) in enumerate(ranks)}
        self.returns = returns

    def stands_still(self, pid: int, stack: Stack) -> bool:
        return not self.returns


def told(patience: float, state: str, before: Stack, now: Stack) -> tuple[str, list[int]] | None:
    """The cause and the late ranks, where one rank waits in its collective and another one stands so, first and later."""
    found = verdict_on(Ranks(0, ("S", ARRIVED), (state, before)), Ranks(10, ("S", ARRIVED), (state, now)), patience=patience)
    return None if found is None else (found.cause, [one.rank.number for one in found.late])


@pytest.mark.parametrize(("before", "now"), [(IN_PATTERN, IN_PATTERN), (IN_LIBRARY, IN_LOOP), (IN_LIBRARY, IN_LIBRARY)])
def test_a_rank_in_a_call_of_pythons_library_is_told_after_a_longer_silence(before: Stack, now: Stack) -> None:
    assert told(PATIENCE + 0.1, "R", before, now) is None
    assert told(LONGER_PATIENCE + 0.1, "R", before, now) == ("computing", [1])


@pytest.mark.parametrize(("before", "now"), [(IN_TORCH, IN_TORCH), (IN_LOOP, READS_JSON), (IN_LIBRARY, IN_TORCH)])
def test_a_rank_in_a_package_or_at_another_function_goes_on(before: Stack, now: Stack) -> None:
    assert told(100.0, "R", before, now) is None


@pytest.mark.parametrize(("returns", "cause"), [(False, "computing"), (True, None)])
def test_a_pattern_for_which_nobody_waits(returns: bool, cause: str | None) -> None:
    """Many short calls look alike in two looks, and not in many."""
    before, now = Ranks(0, ("R", IN_PATTERN)), Ranks(10, ("R", IN_PATTERN), returns=returns)
    assert verdict_on(before, now, patience=ALONE_PATIENCE) is None
    found = verdict_on(before, now, patience=ALONE_PATIENCE + 0.1)
    assert (None if found is None else found.cause) == cause


def test_another_computation_for_which_nobody_waits_is_never_told() -> None:
    assert verdict_on(Ranks(0, ("R", IN_LIBRARY)), Ranks(10, ("R", IN_LIBRARY)), patience=100.0) is None


@pytest.mark.parametrize(
    ("line", "told_of"),
    [("re.sub(PAIRS, '', text)", True), ("PATTERN.sub('', text)", True), ("index.search(rows)", False), ("text.split('a')", False)],
)
def test_a_compiled_pattern_has_no_frame_of_its_own(tmp_path: Path, line: str, told_of: bool) -> None:
    own = tmp_path / "clean.py"
    own.write_text(line + "\n")
    stack = frames((str(own), 1, "clean"))
    found = verdict_on(Ranks(0, ("R", stack)), Ranks(10, ("R", stack)), patience=100.0)
    assert (found is not None) == told_of


def test_a_rank_that_looks_again_and_again_in_a_library_stands_at_its_own_line() -> None:
    before = frames((MANAGER, 822, "_callmethod"), (f"{SITE}/datasets/utils/py_utils.py", 610, "iflatmap"), ("/app/train.py", 30, "prepare"), MAIN)
    now = frames((f"{SITE}/multiprocess/connection.py", 398, "_recv"), *before)
    assert told(PATIENCE, "S", before, now) is None
    assert told(PATIENCE + 0.1, "S", before, now) == ("child", [1])
    assert told(100.0, "S", before, frames(("/app/train.py", 31, "prepare"), MAIN)) is None


@pytest.mark.parametrize(("wakes", "hangs"), [(0, True), (1, True), (50, False), (9000, True)])
def test_ranks_that_meet_again_and_again_do_not_hang(wakes: int, hangs: bool) -> None:
    """Each look finds one in the collective and one in the sleep before it. Who looks every millisecond whether it is done wakes up more often."""
    sleeps = frames(("/app/train.py", 39, "step"), MAIN)
    before, now = (Ranks(at, ("S", ARRIVED), ("S", sleeps)) for at in (0, 10))
    now.at_start = {**now.at_start, GONE: NOTHING._replace(wakes=wakes)}
    assert (verdict_on(before, now) is not None) == hangs


def test_who_spawn_started_is_a_rank_and_who_joins_is_none() -> None:
    spawn = f"{SITE}/torch/multiprocessing/spawn.py"
    joins = frames((f"{PYTHON}/multiprocessing/connection.py", 947, "wait"), (spawn, 170, "join"), (spawn, 340, "spawn"), MAIN)
    inside = frames((C10D, 5356, "barrier"), ("/app/train.py", 37, "main"), (spawn, 87, "_wrap"), (f"{PYTHON}/multiprocessing/process.py", 108, "run"))
    look = Ranks(0, ("S", joins), ("S", inside), ("S", inside))
    assert [(one.number, one.pid) for one in ranks_of(look.processes, look.stacks)] == [(0, GONE + 1), (1, GONE + 2)]
