"""The hang doctor: what it reads, how it judges, and real hangs of ranks on gloo."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.supervise.running import COMMAND, ENVIRONMENT, ROOT, run, script
from tests.waiting import wait_for
from troubleshooter.hang.flight import BadDump, first_difference, read_dump_file
from troubleshooter.hang.judge import HangVerdict, judge
from troubleshooter.hang.look import NOTHING, Counters, Look
from troubleshooter.hang.notice import verdict_on
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.stacks import Stack, StackFrame, read_dump, read_py_spy, stacks_of
from troubleshooter.hang.tell import as_dict, lines
from troubleshooter.supervise.state import ProcessState, family

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")
HANGING = Path(__file__).with_name("hanging.py")
C10D = "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
DUMP = """\
Thread 0x00007f0000000001 [pool] (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 331 in wait

Current thread 0x00007f0000000002 [python] (most recent call first):
  File "/env/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py", line 3252 in all_reduce
  File "/app/train.py", line 40 in step
  File "/app/train.py", line 90 in <module>
"""


def frames(*places: tuple[str, int, str]) -> Stack:
    return tuple(StackFrame(*place) for place in places)


def rank(number: int, *places: tuple[str, int, str], state: str = "S", cpu: float = 0.0, kernel: str = "") -> Rank:
    return Rank(number, True, 1000 + number, state, (frames(*places),), (), cpu, kernel)


def waits(number: int, line: int = 40, operation: str = "all_reduce") -> Rank:
    return rank(number, (C10D, 3252, operation), ("/app/train.py", line, "step"), ("/app/train.py", 90, "<module>"))


def test_a_dump_of_faulthandler() -> None:
    main, other = read_dump(DUMP)
    assert main[0] == StackFrame(C10D, 3252, "all_reduce")
    assert main[-1] == StackFrame("/app/train.py", 90, "<module>")
    assert other == (StackFrame("/usr/lib/python3.11/threading.py", 331, "wait"),)
    assert read_dump("nothing\n\x00") == []


def test_a_dump_of_py_spy() -> None:
    said = 'Thread 9 (idle): "Thread-1"\n    wait (threading.py:331)\nThread 8 (active): "MainThread"\n    step (/app/train.py:40)\n'
    assert read_py_spy(said) == [frames(("/app/train.py", 40, "step")), frames(("threading.py", 331, "wait"))]


@pytest.mark.parametrize(
    ("late", "cause"),
    [
        (rank(1, ("/env/lib/python3.11/site-packages/torch/utils/data/dataloader.py", 1, "_try_get_data"), ("/app/train.py", 9, "f")), "loader"),
        (rank(1, ("/env/lib/python3.11/site-packages/filelock/_unix.py", 1, "_acquire"), ("/app/train.py", 9, "f")), "lock"),
        (rank(1, ("/usr/lib/python3.11/socket.py", 706, "readinto"), ("/app/train.py", 9, "f")), "network"),
        (rank(1, ("/app/train.py", 9, "f"), state="D", kernel="nfs_wait_bit_killable"), "file"),
        (rank(1, ("/app/train.py", 9, "f"), cpu=0.99), "computing"),
        (rank(1, ("/usr/lib/python3.11/pdb.py", 9, "interaction"), ("/app/train.py", 9, "f")), "stopped"),
        (rank(1, ("/app/train.py", 9, "f")), "unknown"),
    ],
)  # fmt: skip
def test_the_cause_is_told_by_where_the_late_rank_stands(late: Rank, cause: str) -> None:
    verdict = judge([waits(0), late, waits(2)], 3)
    assert verdict.cause == cause
    assert [one.rank.number for one in verdict.late] == [1]
    assert verdict.collective == "all_reduce"
    assert as_dict(verdict)["waiting"] == [0, 2]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_process_alone_has_nobody_to_arrive_at(lang: str) -> None:
    told = lines(judge([rank(0, ("/app/train.py", 9, "f"))], 1), lang)
    assert told[0] == {"en": "One process was found: rank 0.", "zh": "只找到一个进程：rank 0。"}[lang]
    assert any("/app/train.py:9, f" in line for line in told)


@pytest.mark.parametrize("line", ["select.select([server], [], [])", "server.recvfrom(100)", "line.recv_into(rows)"])
def test_a_rank_that_reads_from_a_socket_waits_for_the_network(tmp_path: Path, line: str) -> None:
    own = tmp_path / "train.py"
    own.write_text(line + "\n")
    assert judge([waits(0), rank(1, (str(own), 1, "serve")), waits(2)], 3).cause == "network"


def test_the_smaller_group_took_another_way() -> None:
    verdict = judge([waits(0), waits(1), waits(2, 77, "broadcast")], 3)
    assert (verdict.cause, [one.rank.number for one in verdict.late]) == ("branch", [2])
    assert any("/app/train.py:77, step" in line for line in lines(verdict, "en"))


def test_a_rank_without_a_process_is_missing() -> None:
    verdict = judge([waits(0), waits(2)], 3)
    assert (verdict.cause, verdict.missing) == ("ended", [1])
    assert lines(verdict, "en")[0] == "Has no process any more: rank 1."


def test_all_in_one_collective() -> None:
    assert judge([waits(0), waits(1)], 2).cause == "shapes"


class Seen(Look):
    """A look at one process that nobody has, at a time in seconds."""

    def __init__(self, at: float, stack: Stack, state: str = "S") -> None:
        self.at = self.ended = at
        self.folder = None
        self.processes = [ProcessState(GONE, 1, "python", state, 1, 5.0, 1, 100.0, 7)]
        self.at_start = self.at_end = {GONE: NOTHING}
        self.stacks = {GONE: [stack]}


GONE = (1 << 22) + 1
"""A process id beyond those of Linux."""
LOCKED = frames(("/env/lib/python3.11/site-packages/filelock/_unix.py", 1, "_acquire"), ("/app/train.py", 9, "f"))

TIMERS = frames(
    ("/usr/lib/python3.11/selectors.py", 468, "select"), ("/usr/lib/python3.11/asyncio/base_events.py", 1884, "_run_once"),
    ("/app/serve.py", 9, "<module>"),
)  # fmt: skip


def test_a_process_that_stands_still_hangs() -> None:
    verdict = verdict_on(Seen(0, LOCKED), Seen(10, LOCKED), patience=0.0)
    assert verdict is not None
    assert verdict.cause == "lock"


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (Seen(0, LOCKED, "R"), Seen(10, LOCKED)),  # it would run, but gets no CPU
        (Seen(0, LOCKED), Seen(10, LOCKED, "R")),
        (Seen(0, ()), Seen(10, ())),  # it did not answer yet: Python starts
        (Seen(0, LOCKED), Seen(10, frames(("/app/train.py", 10, "f")))),
        (Seen(0, TIMERS), Seen(10, TIMERS)),
    ],
)
def test_a_process_at_work_does_not_hang(before: Look, now: Look) -> None:
    assert verdict_on(before, now, patience=0.0) is None


WAITS = "import time\ndef all_reduce(): time.sleep(900)"
RANKS = """
import os, subprocess, sys
for number in range(2):
    subprocess.Popen([sys.executable, sys.argv[1 + number]], env=dict(os.environ, RANK=str(number), WORLD_SIZE="2", LOCAL_WORLD_SIZE="2"))
os.wait()
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Starts scripts as ranks under a launcher, or one script alone, with the hook. ``torch`` is a file whose ``all_reduce`` waits."""
    fake = tmp_path / "site-packages/torch/distributed"
    fake.mkdir(parents=True)
    (fake / "distributed_c10d.py").write_text(WAITS)
    (fake / "__init__.py").touch()
    (fake.parent / "__init__.py").touch()
    (tmp_path / "launch.py").write_text(RANKS)
    running = []

    def start(*codes: str) -> int:
        for number, code in enumerate(codes):
            (tmp_path / f"rank{number}.py").write_text(code)
        words = ["launch.py", "rank0.py", "rank1.py"] if len(codes) > 1 else ["rank0.py"]
        path = f"{ROOT / 'troubleshooter/supervise/bring'}:{tmp_path / 'site-packages'}"
        given = {**ENVIRONMENT, "TROUBLESHOOT_HOOK_DIR": str(tmp_path), "PYTHONPATH": path}
        running.append(subprocess.Popen([sys.executable, *words], cwd=tmp_path, env=given, start_new_session=True))
        return running[-1].pid

    yield start
    for one in running:
        os.killpg(one.pid, signal.SIGKILL)
        one.wait()


ARRIVES = "from torch.distributed.distributed_c10d import all_reduce\ndef step(): all_reduce()\nstep()"
POOL = "import multiprocessing, time\nmultiprocessing.get_context('fork').Pool(2).apply(time.sleep, (900,))"
PROGRAM = "import subprocess\nsubprocess.run(['sleep', '900'])"
LOOPS = "def converge(value):\n    while True:\n        value = value * 7 % 1000003 or 1\nconverge(5)"
BACKTRACKS = "import re\ndef clean(text):\n    re.match(r'(a+)+$', text)\nclean('a' * 60 + 'b')"
LARGE_NUMBERS = "def power():\n    while True:\n        number = 3 ** (1 << 21)\npower()"
POLLS = """
import subprocess, sys, time
def upload():
    running = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    while running.poll() is None:
        time.sleep(0.05)
upload()
"""


@pytest.mark.parametrize(("code", "cause"), [(POOL, "lock"), (PROGRAM, "child")])
def test_our_own_question_is_no_sign_of_life(tmp_path: Path, started: Callable[..., int], code: str, cause: str) -> None:
    """Each answer is written to a file of the process that was asked. Of several processes, one nearly always begins a new page."""
    pid = started(code, ARRIVES)
    verdicts: list[HangVerdict | None] = [None]
    last = [Look(pid, tmp_path)]

    def told() -> HangVerdict | None:
        last.append(Look(pid, tmp_path))
        verdicts.append(verdict_on(last[-2], last[-1], patience=0.0))
        return verdicts[-1]

    wait_for(told)
    for _ in range(4):
        verdict = told()
        assert verdict is not None
        assert (verdict.cause, [one.rank.number for one in verdict.late]) == (cause, [0])


def two_looks(pid: int, folder: Path, function: str) -> tuple[Look, Look]:
    """Two looks at a busy run, in which a process stands in this function and, if there are ranks, another in its collective."""

    def settled() -> bool:
        inner = [stacks[0][0].function for stacks in Look(pid, folder).stacks.values()]
        return function in inner and (len(family(pid)) == 1 or "all_reduce" in inner)

    wait_for(settled)
    before = Look(pid, folder)
    used = cpu_s(pid)
    wait_for(lambda: cpu_s(pid) > used + 0.3)
    return before, Look(pid, folder)


def cpu_s(pid: int) -> float:
    return sum(one.cpu_s for one in family(pid))


def test_a_rank_that_polls_a_process_at_work_does_not_hang(tmp_path: Path, started: Callable[..., int]) -> None:
    pid = started(POLLS, ARRIVES)
    before, now = two_looks(pid, tmp_path, "upload")
    assert len(family(pid)) == 4
    assert verdict_on(before, now, patience=3.0) is None


def test_an_endless_loop_is_told_if_others_wait_for_it(tmp_path: Path, started: Callable[..., int]) -> None:
    before, now = two_looks(started(LOOPS, ARRIVES), tmp_path, "converge")
    assert verdict_on(before, now, patience=0.0) is None
    verdict = verdict_on(before, now, patience=3.0)
    assert verdict is not None
    assert (verdict.cause, [one.rank.number for one in verdict.late]) == ("computing", [0])


def test_a_pattern_that_backtracks_is_told_if_others_wait_for_it(tmp_path: Path, started: Callable[..., int]) -> None:
    before, now = two_looks(started(BACKTRACKS, ARRIVES), tmp_path, "match")
    assert verdict_on(before, now, patience=3.0) is None
    verdict = verdict_on(before, now, patience=5.0)
    assert verdict is not None
    assert (verdict.cause, [one.rank.number for one in verdict.late]) == ("computing", [0])


def test_a_process_alone_in_a_pattern_that_backtracks_is_told_late(tmp_path: Path, started: Callable[..., int]) -> None:
    before, now = two_looks(started(BACKTRACKS), tmp_path, "match")
    assert verdict_on(before, now, patience=5.0) is None
    verdict = verdict_on(before, now, patience=9.0)
    assert verdict is not None
    assert verdict.cause == "computing"


def test_a_long_computation_for_which_nobody_waits_is_no_hang(tmp_path: Path, started: Callable[..., int]) -> None:
    before, now = two_looks(started(LARGE_NUMBERS), tmp_path, "power")
    assert verdict_on(before, now, patience=3.0) is None


EXCHANGE = """
import selectors, socket, threading, time
ours, theirs = socket.socketpair()
def send():
    while True:
        theirs.send(b"x")
        time.sleep(0.02)
threading.Thread(target=send, daemon=True).start()
chosen = selectors.DefaultSelector()
chosen.register(ours, selectors.EVENT_READ)
"""
SELECTS = EXCHANGE + "while chosen.select(): ours.recv(1)"
JOINS = EXCHANGE + "thread = threading.Thread(target=lambda: [ours.recv(1) for _ in iter(int, 1)])\nthread.start()\nthread.join()"


@pytest.mark.parametrize("code", [SELECTS, JOINS])
def test_a_process_whose_threads_exchange_messages_does_not_hang(tmp_path: Path, started: Callable[..., int], code: str) -> None:
    pid = started(code)
    wait_for(lambda: Look(pid, tmp_path).stacks)
    before = Look(pid, tmp_path)
    woken = Counters.of(pid).all_wakes
    wait_for(lambda: Counters.of(pid).all_wakes > woken + 50)
    assert verdict_on(before, Look(pid, tmp_path), patience=0.0) is None


def dump(folder: Path, number: int, rows: list[dict[str, object]]) -> Path:
    path = folder / f"nccl_trace_rank_{number}"
    path.write_bytes(pickle.dumps({"version": "2.4", "entries": rows}))
    return path


def row(number: int, operation: str = "all_reduce", sizes: tuple[int, ...] = (4,), state: str = "completed") -> dict[str, object]:
    found = {"name": "step", "filename": "/app/train.py", "line": 40}
    return {
        "collective_seq_id": number, "process_group": ("0", "default_pg"), "profiling_name": f"nccl:{operation}", "state": state,
        "input_sizes": (sizes,), "input_dtypes": ["Float"], "frames": [found],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([row(1), row(2, sizes=(8,))], "sizes"),
        ([row(1), row(2, "broadcast")], "operation"),
        ([row(1)], "missing"),
        ([row(1), row(2, state="started")], "unfinished"),
    ],
)
def test_where_flight_recorder_dumps_part(tmp_path: Path, rows: list[dict[str, object]], what: str) -> None:
    dump(tmp_path, 0, [row(1), row(2)])
    dump(tmp_path, 1, rows)
    done = subprocess.run([*COMMAND[:-3], "hang", "--format", "json", str(tmp_path)], capture_output=True, check=False, env=ENVIRONMENT)
    assert done.returncode == 3, done.stderr
    found = json.loads(done.stdout)["apart"]
    assert (found["number"], found["what"]) == (2, what)


def test_dumps_without_a_difference(tmp_path: Path) -> None:
    assert first_difference([read_dump_file(dump(tmp_path, n, [row(1), row(2)])) for n in range(2)]) is None


class Evil:
    """What an unpickler would run."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return print, ("run",)


def test_a_dump_is_data_and_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "trace_0"
    path.write_bytes(pickle.dumps({"entries": [Evil()]}))
    with pytest.raises(BadDump, match=r"builtins\.print"):
        read_dump_file(path)
    assert capsys.readouterr().out == ""
    path.write_bytes(b"no pickle")
    with pytest.raises(BadDump, match="no dump of the Flight Recorder"):
        read_dump_file(path)


def hang(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND[:-3], "hang", "--lang", "en", *words], capture_output=True, text=True, check=False, env=ENVIRONMENT)


def test_a_process_that_does_not_exist() -> None:
    done = hang("999999999")
    assert done.returncode == 2
    assert "there is no such process" in done.stderr


def test_the_hook_comes_into_each_python_and_leaves_no_trace(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "sitecustomize.py").write_text("print('own sitecustomize')")
    code = "import os, sys; print(os.listdir(os.environ['TROUBLESHOOT_HOOK_DIR'])); print([p for p in sys.path if 'supervise' in p]); {}['key']"
    done = run(tmp_path / "a", *script(code), env={"PYTHONPATH": str(own)})
    told = done.stdout.decode()
    assert told.startswith("own sitecustomize\n")
    assert ".stacks'" in told
    assert "\n[]\n" in told
    (facts,) = (tmp_path / "a/facts").glob("*.crash.json")
    assert json.loads(facts.read_text())["exceptions"][0]["type"].endswith("KeyError")
    done = run(tmp_path / "b", *script("import os; print('TROUBLESHOOT_HOOK_DIR' in os.environ)"), options=("--no-hook",))
    assert done.stdout == b"False\n"


@pytest.mark.slow
def test_a_script_that_sleeps_on_purpose_is_no_hang(tmp_path: Path) -> None:
    done = run(tmp_path / "a", *script("import time; print('ready'); time.sleep(8); print('done')"), options=("--hang-after", "1"))
    assert done.stderr == b""
    assert done.stdout == b"ready\ndone\n"


SLOW_ANSWER = """
import socket, threading, time
ours, theirs = socket.socketpair()
def answer():
    for _ in range(30):
        theirs.send(b"x")
        time.sleep(0.2)
    theirs.close()
threading.Thread(target=answer).start()
print("ready", flush=True)
while ours.recv(1 << 16):
    pass
print("done")
"""


@pytest.mark.slow
def test_a_slow_download_is_no_hang(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_ANSWER)
    done = run(tmp_path / "a", sys.executable, str(tmp_path / "slow.py"), options=("--hang-after", "1"))
    assert done.stderr == b""
    assert done.stdout == b"ready\ndone\n"


def test_crash_facts_tell_what_the_log_does_not_show(tmp_path: Path) -> None:
    code = "import os, sys; sys.stderr = open(os.devnull, 'w'); {}['a key that no log shows']"
    done = run(tmp_path / "a", *script(code))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"a key that no log shows" in done.stderr
    report = json.loads((tmp_path / "a/report.json").read_text())
    assert report["failures"][0]["exception"] == "KeyError"


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("branch", "branch"), ("sleeping", "sleeping"), ("lock", "lock"), ("thread-lock", "lock"), ("network", "network"), ("file", "file"),
        ("loader", "loader"), ("computing", "computing"), ("meeting", "meeting"), ("stopped", "stopped"), ("data-ended", "branch"),
    ],
)  # fmt: skip
def test_real_hangs(tmp_path: Path, kind: str, cause: str, ranks: int) -> None:
    pytest.importorskip("torch")
    options = ("--hang-after", "6", "--stop-early")
    done = run(tmp_path / "a", sys.executable, str(HANGING), kind, str(ranks), options=options)
    told = json.loads((tmp_path / "a/hang.json").read_text())
    assert (told["late"], told["cause"]) == ([ranks - 1], cause)
    here = next(n for n, text in enumerate(HANGING.read_text().splitlines(), 1) if text.endswith(f"# HERE {kind}"))
    assert f"hanging.py:{here}, " in done.stderr.decode() or kind in ("computing", "stopped")
    assert done.returncode == -signal.SIGTERM


RECEIVES = """
import ctypes, socket, sys, threading
from troubleshooter import hook
hook.install()
threading.Thread(target=threading.Event().wait, daemon=True).start()
line = socket.socket(fileno=int(sys.argv[1]))
line.sendall(b"ready")
got = ctypes.create_string_buffer(20)
count = ctypes.CDLL(None).recv(line.fileno(), got, 20, socket.MSG_WAITALL)
line.sendall(b"%d bytes" % count)
"""


def test_a_process_that_is_asked_for_its_stacks_receives_every_byte(tmp_path: Path) -> None:
    """A signal ends a ``recv`` that has a part of what it waits for, so another thread must get it."""
    ours, theirs = socket.socketpair()
    script = tmp_path / "train.py"
    script.write_text(RECEIVES)
    environment = {**ENVIRONMENT, "TROUBLESHOOT_HOOK_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, str(script), str(theirs.fileno())], env=environment, pass_fds=[theirs.fileno()]) as process, ours:
        theirs.close()
        assert ours.recv(5) == b"ready"
        ours.sendall(b"x" * 10)
        wait_for(lambda: Path(f"/proc/{process.pid}/syscall").read_text().split()[0] in ("45", "207"))
        for _ in range(3):
            stacks = stacks_of([process.pid], tmp_path)[process.pid]
            assert stacks[0][-1].file == str(script)
        ours.sendall(b"y" * 10)
        assert ours.recv(20) == b"20 bytes"
