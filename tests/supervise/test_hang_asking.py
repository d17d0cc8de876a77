"""Asking a process for its stacks does it no harm, and is answered whether it computes, waits or is in one long call into C."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.supervise.test_hang import ENVIRONMENT
from troubleshooter.hang import asking
from troubleshooter.hang.asking import Question, ask, insist
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
        for _ in range(300):
            calm += ask(process.pid).calm
            time.sleep(0.002)
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


@pytest.mark.parametrize(("runs", "used", "asked"), [(True, 0.2, False), (True, 1.5, True), (False, 0.2, True)])
def test_who_got_no_cpu_to_answer_is_not_asked_at_once(monkeypatch: pytest.MonkeyPatch, runs: bool, used: float, asked: bool) -> None:
    pid, sent = os.getpid(), []
    monkeypatch.setattr(asking, "_runs", lambda _: runs)
    monkeypatch.setattr(asking, "_cpu_s", lambda _: 10.0 + used)
    monkeypatch.setattr(asking, "_ask_at_once", sent.append)
    question = Question(True, 10.0, time.monotonic() - asking.IN_C_SECONDS)
    assert insist(pid, question).calm is not asked
    assert bool(sent) is asked
    assert insist(pid, Question(True, 0.0, time.monotonic() + 100)).calm


def test_a_process_whose_other_threads_run_is_asked_when_they_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its main thread waits. If others never rest, the calm signal comes first: a wait of Python's own for a lock answers it."""
    pid, sent = os.getpid(), []
    monkeypatch.setattr(asking, "_takes_calm", lambda _: True)
    monkeypatch.setattr(asking, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(asking, "_ask_at_once", lambda _: sent.append("at once"))
    monkeypatch.setattr(asking, "_ask_calmly", lambda _: sent.append("calmly") or Question(True, 0.0, 0.0))
    others = iter([True, False])
    monkeypatch.setattr(asking, "_runs", lambda task: task.name != str(pid) and next(others))
    monkeypatch.setattr(Path, "glob", lambda self, pattern: [self / "1"])
    ask(pid)
    assert sent == ["at once"]
    assert next(others, None) is None
    monkeypatch.setattr(asking, "_runs", lambda task: task.name != str(pid))
    monkeypatch.setattr(asking, "_waiting_for_locks", lambda _: iter([pid]))
    ask(pid)
    monkeypatch.setattr(asking, "_waiting_for_locks", lambda _: iter([]))
    ask(pid)
    assert sent == ["at once", "calmly", "at once"]
