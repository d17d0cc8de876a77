"""Asking a process for its stacks does it no harm, and is answered whether it computes, waits or is in one long call into C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.supervise.test_hang import ENVIRONMENT
from tests.waiting import wait_for
from troubleshooter.hang.asking import IN_C_SECONDS, AskedProcess, Question, ask, insist
from troubleshooter.hang.stacks import Stack, stacks_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc")

CALLS = """
import os, sys, threading, time
from troubleshooter import hook
hook.install()
threading.Thread(target=threading.Event().wait, daemon=True).start()
class Node:
    def __init__(self, depth):
        self.below = Node(depth - 1) if depth else None
def train():
    while not os.path.exists(sys.argv[1]):
        for depth in range(10):
            Node(depth)
print("ready", flush=True)
train()
print("done")
"""
COUNTS = """
import itertools
from troubleshooter import hook
hook.install()
def count():
    return sum(itertools.repeat(1))
print("ready", flush=True)
count()
"""


@contextmanager
def running(folder: Path, code: str) -> Iterator[subprocess.Popen[bytes]]:
    script = folder / "train.py"
    script.write_text(code)
    environment = {**ENVIRONMENT, "TROUBLESHOOT_HOOK_DIR": str(folder)}
    with subprocess.Popen([sys.executable, str(script), str(folder / "stop")], env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_process_that_computes_survives_many_questions(tmp_path: Path) -> None:
    """SIGUSR2 alone ended it by a segmentation fault after some hundred."""
    with running(tmp_path, CALLS) as process:
        calm = 0
        asked = AskedProcess(process.pid)
        for _ in range(300):
            before = asked.cpu_s()
            calm += ask(asked).calm
            wait_for(lambda before=before: asked.cpu_s() > before)  # it goes on between two questions
        assert calm > 100
        (tmp_path / "stop").touch()
        out, _ = process.communicate()
        assert (process.returncode, out) == (0, b"done\n")


def asked_until(pid: int, folder: Path, function: str) -> list[Stack]:
    """The stacks of a process as soon as its main thread is in a function: it says that it is ready just before."""
    found: list[Stack] = [()]
    for _ in range(20):
        found = stacks_of([pid], folder).get(pid, found)
        if any(frame.function == function for frame in found[0]):
            break
    return found


def test_the_answer_of_a_process_that_computes(tmp_path: Path) -> None:
    with running(tmp_path, CALLS) as process:
        main, other = asked_until(process.pid, tmp_path, "train")
        assert main[-1].function == "<module>"
        assert main[-2].function == "train"
        assert main[-1].file == str(tmp_path / "train.py")
        assert other[0].function == "wait"


def test_a_long_call_into_c_is_asked_at_once_in_the_end(tmp_path: Path) -> None:
    with running(tmp_path, COUNTS) as process:
        (main,) = asked_until(process.pid, tmp_path, "count")
        assert [frame.function for frame in main] == ["count", "<module>"]


class Made(AskedProcess):
    """A process whose state the test says; it notes how it was asked."""

    def __init__(self, *, main_runs: bool, used: float = 0.0, others_run: Sequence[bool] = (), waits: bool = False) -> None:
        super().__init__(os.getpid())
        self.state = (main_runs, 10.0 + used, waits)
        self.others = list(others_run)
        self.sent: list[str] = []

    def takes_calm(self) -> bool:
        return True

    def main_runs(self) -> bool:
        return self.state[0]

    def any_runs(self) -> bool:
        return self.others.pop(0) if self.others else False

    def main_waits_for_lock(self) -> bool:
        return self.state[2]

    def cpu_s(self) -> float:
        return self.state[1]

    def ask_calmly(self) -> None:
        self.sent.append("calmly")

    def ask_at_once(self) -> None:
        self.sent.append("at once")


@pytest.mark.parametrize(("runs", "used", "asked"), [(True, 0.2, False), (True, 1.5, True), (False, 0.2, True)])
def test_who_got_no_cpu_to_answer_is_not_asked_at_once(runs: bool, used: float, asked: bool) -> None:
    process = Made(main_runs=runs, used=used)
    question = Question(True, 10.0, 100.0)
    assert insist(process, question, 100.0 + IN_C_SECONDS).calm is not asked
    assert process.sent == ["at once"] * asked
    assert insist(process, question, 100.0).calm, "it is given the time to answer"


def test_a_process_whose_other_threads_run_is_asked_when_they_do_not() -> None:
    """Its main thread waits. If others never rest, the calm signal comes first: a wait of Python's own for a lock answers it."""
    for others, waits, sent in (([True, False], True, "at once"), ([True] * 99, True, "calmly"), ([True] * 99, False, "at once")):
        process = Made(main_runs=False, others_run=others, waits=waits)
        ask(process)
        assert process.sent == [sent]


def test_a_process_that_computes_is_asked_calmly() -> None:
    process = Made(main_runs=True, others_run=[True] * 99)
    assert ask(process).cpu_s == 10.0
    assert process.sent == ["calmly"]


LIKE_LIGHTNING = """\
handlers = {one: signal.getsignal(one) for one in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}}
for one, handler in handlers.items():
    if handler is not None:
        signal.signal(one, handler)
"""
OWN = "signal.signal(signal.SIGUSR2, lambda *args: print('own handler', flush=True))\n"


@pytest.mark.parametrize("first", ["", "import signal\n"])
@pytest.mark.parametrize(
    ("code", "spare"), [("", False), (LIKE_LIGHTNING, False), (OWN, True), (OWN + LIKE_LIGHTNING, True), (LIKE_LIGHTNING + OWN, True)]
)
def test_a_program_that_sets_the_signal_is_asked_and_its_handler_is_not_called(tmp_path: Path, first: str, code: str, spare: bool) -> None:
    script = f"{first}from troubleshooter import hook\nhook.install()\nimport signal, threading\n{code}print('ready', flush=True)\n"
    with running(tmp_path, script + "threading.Event().wait()\n") as process:
        asked = AskedProcess(process.pid)
        assert (asked.can_be_asked(), asked.at_once_signal() != signal.SIGUSR2) == (True, spare)
        for _ in range(2):
            (main,) = stacks_of([process.pid], tmp_path)[process.pid]
            assert main[-1].function == "<module>"
        process.kill()
        assert process.communicate() == (b"", None)


def test_a_forked_process_goes_on_with_the_spare_signal(tmp_path: Path) -> None:
    code = f"from troubleshooter import hook\nhook.install()\nimport os, signal, threading\n{OWN}child = os.fork()\n"
    with running(tmp_path, code + "if child: print('ready', flush=True)\nthreading.Event().wait()\n") as process:
        wait_for(lambda: len([*tmp_path.glob("*.stacks")]) == 2)
        (child,) = {int(path.stem) for path in tmp_path.glob("*.stacks")} - {process.pid}
        try:
            found = stacks_of([process.pid, child], tmp_path)
            assert [found[pid][0][-1].function for pid in (process.pid, child)] == ["<module>", "<module>"]
        finally:
            os.kill(child, signal.SIGKILL)
