"""Hangs that the twelfth set of them showed: for whom a group waits, scripts with helpers, programs held by their parent's pipe, programs that join a
group, event loops that poll, patterns by their names, and branches behind a loop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.supervise.running import ENVIRONMENT
from tests.supervise.test_hang import C10D, GONE, frames
from tests.supervise.test_hang_judged import Source, late
from tests.supervise.test_hang_patience import ARRIVED, MAIN, PYTHON, Ranks
from tests.waiting import wait_for
from troubleshooter.hang import forming, recorded, tasks
from troubleshooter.hang import ranks as of_ranks
from troubleshooter.hang.busy import ALONE_PATIENCE, PATIENCE
from troubleshooter.hang.doing import asks_for_its_end, cause_of
from troubleshooter.hang.forming import with_forming
from troubleshooter.hang.judge import judge
from troubleshooter.hang.look import Look
from troubleshooter.hang.notice import verdict_on
from troubleshooter.hang.pipes import holds_all_below
from troubleshooter.hang.ranks import Rank, held_by_kernel, ranks_of, without_helpers
from troubleshooter.hang.recorded import Forming, RankRecord
from troubleshooter.hang.source import calls_pattern
from troubleshooter.hang.stacks import Stack, StackFrame
from troubleshooter.hang.standing import standing_of
from troubleshooter.hang.tasks import with_tasks
from troubleshooter.hang.tell import lines
from troubleshooter.supervise.state import family, process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

# --- for whom a group waits ---

STARTS = frames((C10D, 2169, "_new_process_group_helper"), (C10D, 1899, "init_process_group"), MAIN)
GROUPS = frames((C10D, 2169, "_new_process_group_helper"), (C10D, 5863, "new_group"), MAIN)


def told(
    monkeypatch: pytest.MonkeyPatch, *ranks: Stack, numbered: bool = True, **forms: Forming
) -> tuple[str, list[int], list[int]]:
    """The verdict on these ranks, those that have no process, and how they number themselves. ``forms``: what some of them tell."""
    records = {int(name[1:]): RankRecord({}, [], None, one) for name, one in forms.items()}
    monkeypatch.setattr(
        forming,
        "ask",
        lambda asked, folder: {one.number: records[one.number] for one in asked if one.number in records},
    )
    found = with_forming(judge([Rank(at, numbered, GONE + at, "S", (stack,)) for at, stack in enumerate(ranks)]), None)
    return found.cause, [one.rank.number for one in found.late], found.missing


def group(own: int, *members: int) -> Forming:
    return Forming(frozenset(members), own)


def test_the_member_that_does_not_form_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    stacks = (GROUPS, GROUPS, ARRIVED, ARRIVED)
    assert told(monkeypatch, *stacks, r0=group(0, 0, 1, 3), r1=group(1, 0, 1, 3)) == ("branch", [3], [])
    by_place = told(monkeypatch, *stacks)
    assert by_place[1] != [3]
    assert told(monkeypatch, *stacks, r0=group(0, 0, 1, 2, 3), r1=group(1, 0, 1, 2, 3)) == by_place  # as many as do
    assert told(monkeypatch, *stacks, r0=group(0, 0, 1, 3), r1=group(1, 1, 2)) == by_place  # two groups
    assert told(monkeypatch, *stacks, r0=group(0, 0, 1, 3)) == by_place  # one does not tell


def test_a_rank_that_nobody_started_is_missing_by_what_the_others_say(monkeypatch: pytest.MonkeyPatch) -> None:
    two = {"r0": group(2, 0, 1, 2), "r1": group(0, 0, 1, 2)}
    assert told(monkeypatch, STARTS, STARTS, numbered=False, **two) == ("meeting", [], [1])
    assert told(monkeypatch, STARTS, STARTS, numbered=True, **two) == (
        "meeting",
        [],
        [],
    )  # its launcher says how many there are
    four = {"r0": group(0, 0, 1, 2, 3), "r1": group(1, 0, 1, 2, 3)}
    assert told(monkeypatch, STARTS, STARTS, numbered=False, **four) == (
        "meeting",
        [],
        [],
    )  # the others may be on a second machine
    same = {"r0": group(0, 0, 1, 2), "r1": group(0, 0, 1, 2)}
    assert told(monkeypatch, STARTS, STARTS, numbered=False, **same) == ("meeting", [], [])  # two of one number


FORMS = """
import os, sys, types
from troubleshooter import hook
hook.install()
class World:
    pg_names, pg_group_ranks = {}, {}
def helper(*words, **options):
    print(os.getpid(), flush=True)
    sys.stdin.readline()
c10d, native = types.ModuleType("torch.distributed.distributed_c10d"), types.ModuleType("torch._C._distributed_c10d")
c10d._new_process_group_helper, c10d._world = helper, World
import pickle
native._dump_fr_trace = lambda *words: pickle.dumps({"entries": []})
sys.modules[c10d.__name__], sys.modules[native.__name__] = c10d, native
hook._patch_groups(c10d)
for size, own, ranks in [(3, 1, [0, 2, 5]), (4, 3, []), (-1, -1, []), (3, None, [0, 2, 5])]:
    c10d._new_process_group_helper(size, own, ranks, "gloo")
print(os.getpid(), flush=True)
if len(sys.argv) == 1:
    sys.stdin.read()
    sys.exit()
import asyncio
async def ready():
    while True:
        await asyncio.sleep(900)  # sleeps
async def main():
    await asyncio.gather(ready())  # gathers
asyncio.run(main())
"""


def test_a_process_tells_which_group_it_forms(tmp_path: Path) -> None:
    given = {**ENVIRONMENT, "TROUBLESHOOT_HOOK_DIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", FORMS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given
    ) as one:
        assert one.stdin is not None
        assert one.stdout is not None
        found = []
        for _ in range(5):
            pid = int(one.stdout.readline())
            found.append(recorded.ask([Rank(0, True, pid, "S", ())], tmp_path)[0].forms)
            one.stdin.write(b"\n")
            one.stdin.flush()
        one.communicate(b"")
    assert one.returncode == 0
    assert found == [group(2, 0, 2, 5), group(3, 0, 1, 2, 3), None, None, None]


# --- event loops ---


def test_a_process_tells_where_the_tasks_of_its_event_loop_stand(tmp_path: Path) -> None:
    script = Source(tmp_path, FORMS)
    given = {**ENVIRONMENT, "TROUBLESHOOT_HOOK_DIR": str(tmp_path)}
    command = [sys.executable, str(script.path), "loop"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given) as one:
        assert one.stdin is not None
        assert one.stdout is not None
        one.stdin.write(b"\n" * 4)
        one.stdin.flush()
        (pid,) = {int(one.stdout.readline()) for _ in range(5)}
        asked: list[RankRecord] = []

        def tells_both() -> bool:
            asked.append(recorded.ask([Rank(0, True, pid, "S", ())], tmp_path)[0])
            return len(asked[-1].tasks) == 2

        wait_for(tells_both)
        one.kill()
    found = asked[-1].tasks
    assert {task[-1].function for task in found} == {"main", "ready"}
    (sleeper,) = (task for task in found if task[-1].function == "ready")
    assert (sleeper[0].function, sleeper[-1]) == ("sleep", script.frame("sleeps", "ready"))


ASKS = """\
async def until_ready():
    while not await asyncio.to_thread(healthy):
        await asyncio.sleep(2)  # sleeps
async def until_there():
    while True:
        if os.path.exists(name):
            return
        await asyncio.sleep(2)  # looks
async def once():
    await asyncio.sleep(2)  # backs off
async def download():
    while piece := await reader.read():  # reads
        keep(piece)
async def limited():
    await asyncio.wait_for(reader.read(), 9)  # waits
async def main():
    await asyncio.gather(until_ready())  # gathers
asyncio.run(main())  # runs
"""
LOOP = ((f"{PYTHON}/selectors.py", 468, "select"), (f"{PYTHON}/asyncio/base_events.py", 1884, "_run_once"))
SLEEP, READ = (
    StackFrame(f"{PYTHON}/asyncio/tasks.py", 639, "sleep"),
    StackFrame(f"{PYTHON}/asyncio/streams.py", 500, "read"),
)


class Receives(Ranks):
    """A look at ranks whose event loops wake up again and again."""

    def receives_since(self, before: Look, rank: Rank) -> bool:
        return True


@pytest.mark.parametrize(
    ("marks", "cause"),
    [
        ([("sleeps", "until_ready")], "sleeping"), ([("sleeps", "until_ready"), ("gathers", "main")], "sleeping"), ([("looks", "until_there")], "file"),
        ([("gathers", "main")], ""), ([("backs off", "once")], ""), ([("reads", "download")], ""), ([], ""),
        ([("sleeps", "until_ready"), ("reads", "download")], ""), ([("sleeps", "until_ready"), ("waits", "limited")], ""),
    ],
)  # fmt: skip
def test_a_rank_whose_event_loop_only_polls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, marks: list[tuple[str, str]], cause: str
) -> None:
    source = Source(tmp_path, ASKS)
    inner = {
        "sleeps": (SLEEP,),
        "looks": (SLEEP,),
        "backs off": (SLEEP,),
        "reads": (READ,),
        "waits": (READ,),
        "gathers": (),
    }
    found = tuple((*inner[mark], source.frame(mark, function)) for mark, function in marks)
    monkeypatch.setattr(
        tasks, "ask", lambda ranks, folder: {one.number: RankRecord({}, [], None, None, found) for one in ranks}
    )
    waits = (*frames(*LOOP), source.frame("runs", "<module>"))
    before, now = (Receives(at, ("S", ARRIVED), ("S", waits)) for at in (0, 10))
    assert verdict_on(before, now, patience=PATIENCE) is None
    verdict = verdict_on(before, now, patience=PATIENCE + 0.1)
    assert (None if verdict is None else late(verdict)) == ((cause, [1]) if cause else None)


def test_the_report_tells_where_the_tasks_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source(tmp_path, ASKS)
    found = ((SLEEP, source.frame("sleeps", "until_ready")), (source.frame("gathers", "main"),), (SLEEP,))
    monkeypatch.setattr(
        tasks, "ask", lambda ranks, folder: {one.number: RankRecord({}, [], None, None, found) for one in ranks}
    )
    waits = Rank(1, True, GONE + 1, "S", ((*frames(*LOOP), source.frame("runs", "<module>")),))
    verdict = with_tasks(judge([Rank(0, True, GONE, "S", (ARRIVED,)), waits], 2), None)
    told = "\n".join(lines(verdict, "en"))
    assert (
        f"a task of its event loop is at {source.frame('sleeps', 'until_ready')}\n      await asyncio.sleep(2)" in told
    )
    assert told.count("a task of its event loop") == 2
    assert f"它的事件循环中有一个任务停在 {source.frame('gathers', 'main')}" in "\n".join(lines(verdict, "zh"))
    others = with_tasks(judge([Rank(0, True, GONE, "S", (ARRIVED,)), waits._replace(stacks=(frames(MAIN),))], 2), None)
    assert "event loop" not in "\n".join(lines(others, "en"))


# --- a script with helpers ---

POOL = """\
ANSWER = re.compile(r"(a+)+$")
class Parser:
    def __init__(self):
        self.number = re.compile(r"(b+)+$")
    def found(self, text):
        return self.number.match(text)  # by attribute
def parsed(text):
    return ANSWER.match(text)  # by name
def queried(text):
    return table.match(text)  # of no pattern
pool.join()  # joins
"""
JOINS = (f"{PYTHON}/threading.py", 1139, "_wait_for_tstate_lock")
TAKES = frames((f"{PYTHON}/multiprocessing/queues.py", 103, "get"), ("/app/train.py", 30, "<module>"))


@pytest.mark.parametrize(
    ("mark", "function", "hangs"), [("by name", "parsed", True), ("of no pattern", "queried", False)]
)
def test_a_script_whose_worker_matches_without_end(tmp_path: Path, mark: str, function: str, hangs: bool) -> None:
    source = Source(tmp_path, POOL)
    parent = (*frames(JOINS), source.frame("joins", "<module>"))
    looks = []
    for at in (0, 10):
        look = Ranks(at, ("S", parent), ("R", (source.frame(mark, function),)), ("S", TAKES))
        look.processes = [one._replace(parent=1 if one.pid == GONE else GONE) for one in look.processes]
        looks.append(look)
    assert verdict_on(*looks, patience=ALONE_PATIENCE) is None
    verdict = verdict_on(*looks, patience=ALONE_PATIENCE + 0.1)
    assert (None if verdict is None else late(verdict)) == (("lock", [0]) if hangs else None)
    if verdict is not None:
        assert [one.pid for one in verdict.processes] == [GONE + 1, GONE + 2]
        assert f"process {GONE + 1}" in "\n".join(lines(verdict, "en"))


def test_which_calls_are_of_a_pattern(tmp_path: Path) -> None:
    source = Source(tmp_path, POOL)
    assert calls_pattern(source.frame("by name", "parsed"))
    assert calls_pattern(source.frame("by attribute", "found"))
    assert not calls_pattern(source.frame("of no pattern", "queried"))


def test_who_started_others_is_the_script() -> None:
    look = Ranks(0, ("S", TAKES), ("S", TAKES), ("S", TAKES))
    look.processes = [one._replace(parent=1 if one.pid == GONE else GONE) for one in look.processes]
    ranks = ranks_of(look.processes, look.stacks)
    assert [one.pid for one in without_helpers(ranks, look.processes)] == [GONE]
    side_by_side = [one._replace(parent=1) for one in look.processes]
    assert len(without_helpers(ranks, side_by_side)) == 3
    assert len(without_helpers([one._replace(numbered=True) for one in ranks], look.processes)) == 3
    assert len(without_helpers([ranks[0], ranks[1]._replace(stacks=(ARRIVED,)), ranks[2]], look.processes)) == 3


ENDS = """\
while program.poll() is None:
    time.sleep(1)  # polls
while not os.path.exists(name):
    time.sleep(1)  # looks
"""


@pytest.mark.parametrize(("mark", "cause"), [("polls", "child"), ("looks", "file")])
def test_who_asks_whether_a_program_has_ended_waits_for_it(tmp_path: Path, mark: str, cause: str) -> None:
    one = standing_of(Source(tmp_path, ENDS).rank(0, f"<module>/{mark}", kernel="hrtimer_nanosleep"))
    assert (cause_of(one), asks_for_its_end(one)) == (cause, cause == "child")


@pytest.mark.parametrize(("held", "hangs"), [(True, True), (False, False)])
def test_a_script_may_look_after_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bool, hangs: bool
) -> None:
    """A script that nobody waits for asks whether its program has ended. If that one waits for the script, it never will."""
    polls = (Source(tmp_path, ENDS).frame("polls", "<module>"),)
    monkeypatch.setattr("troubleshooter.hang.notice.holds_all_below", lambda rank, processes: held)
    looks = [Ranks(at, ("S", polls), ("S", TAKES)) for at in (0, 10)]
    for look in looks:
        look.processes = [one._replace(parent=1 if one.pid == GONE else GONE) for one in look.processes]
    verdict = verdict_on(*looks, patience=100.0)
    assert (None if verdict is None else late(verdict)) == (("child", [0]) if hangs else None)


def rests(pid: int) -> bool:
    """Whether a program has come to where it waits, or the system does not say where."""
    found, held = process(pid), held_by_kernel(pid)
    return found is not None and found.state == "S" and (not held or "pipe" in held or "nanosleep" in held)


@pytest.mark.parametrize(
    ("code", "given", "hangs"),
    [
        ("import sys; sys.stdin.read()", {"stdin": subprocess.PIPE}, True),
        ("print('row' * 100000)", {"stdout": subprocess.PIPE}, True),
        ("import os; os.read(os.pipe()[0], 1)", {"stdin": subprocess.PIPE}, False),  # a pipe of its own
        ("import time; time.sleep(60)", {"stdin": subprocess.PIPE}, False),
    ],
)  # fmt: skip
def test_which_programs_are_held_by_a_pipe_of_their_parent(code: str, given: dict[str, int], hangs: bool) -> None:
    with subprocess.Popen([sys.executable, "-c", code], **given) as program:  # type: ignore[call-overload]
        try:
            wait_for(lambda: rests(program.pid))
            own = Rank(0, False, os.getpid(), "S", (frames(MAIN),))
            below = [one for one in family(os.getpid()) if one.pid == program.pid]
            if not held_by_kernel(program.pid) or not os.access(f"/proc/{program.pid}/syscall", os.R_OK):
                pytest.skip("the system does not say what holds a process")
            assert holds_all_below(own, below) == hangs
            assert not holds_all_below(own, [])
            feeds = own._replace(stacks=(frames(MAIN), frames(("/app/train.py", 12, "feed"))))
            assert not holds_all_below(feeds, below)
        finally:
            program.kill()


# --- a rank that runs a program ---


@pytest.mark.parametrize(
    ("in_group", "found"), [(True, [(0, GONE), (1, GONE + 2)]), (False, [(0, GONE + 1), (1, GONE + 2)])]
)
def test_a_rank_whose_program_joins_a_group_itself(
    monkeypatch: pytest.MonkeyPatch, in_group: bool, found: list[tuple[int, int]]
) -> None:
    """The program has the rank's number. A launcher, to which a scheduler gave a number, is in no group."""
    runs = frames((f"{PYTHON}/subprocess.py", 2004, "_try_wait"), (f"{PYTHON}/subprocess.py", 1264, "wait"), MAIN)
    look = Ranks(0, ("S", runs), ("S", STARTS), ("S", ARRIVED))
    look.processes = [one._replace(parent=GONE if one.pid == GONE + 1 else 1) for one in look.processes]
    numbers = {GONE: "0", GONE + 1: "0", GONE + 2: "1"}
    monkeypatch.setattr(of_ranks, "environment_of", lambda pid: {"RANK": numbers[pid]})
    monkeypatch.setattr(of_ranks, "is_in_group", lambda pid: in_group and pid == GONE)
    assert [(one.number, one.pid) for one in ranks_of(look.processes, look.stacks)] == found


# --- a branch behind a loop ---

EPOCHS = """\
def train():
    for epoch in range(9):
        for rows in loader:
            loss = step(rows)  # steps
        if {test}:
            save()  # behind
    if {test}:
        save()  # at the end
train()  # called
"""


@pytest.mark.parametrize(
    ("test", "mark", "cause"),
    [
        ("measured < best", "behind", "branch"), ("rank == 0", "behind", "branch"), ("epoch % 5 == 0", "behind", "data-ended"),
        ("last_step", "behind", "data-ended"), ("measured < best", "at the end", "data-ended"),
    ],
)  # fmt: skip
def test_a_branch_behind_a_loop_that_the_others_may_have_gone_past(
    tmp_path: Path, test: str, mark: str, cause: str
) -> None:
    source = Source(tmp_path, EPOCHS.format(test=test))
    others = [source.rank(number, "train/steps", "<module>/called", collective="all_reduce") for number in (0, 2)]
    assert late(judge([*others, source.rank(1, f"train/{mark}", "<module>/called", collective="barrier")], 3)) == (
        cause,
        [1],
    )
