"""Whether to run the same command again, from a log to the decision, and as an exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_SECONDS
from troubleshooter.outcome import outcome
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Stop, from_text

UNKNOWN = 'Traceback (most recent call last):\n  File "/x/quux.py", line 3, in fill\n    go()\n{}\n'


@pytest.mark.parametrize(
    ("log", "decision", "reason"),
    [
        ("AttributeError: 'HybridCache' object has no attribute 'float'\n", "useless", "same-crash"),
        ("RuntimeError: Already borrowed\n", "may-help", "race"),
        (UNKNOWN.format("QuuxError: the tank is empty"), "useless", "same-code"),
        (UNKNOWN.format("quux.client.QuuxError: the request to the tank timed out"), "may-help", "network"),
        (UNKNOWN.format("QuuxError: uncorrectable tank of the device"), "may-help", "hardware"),
        (UNKNOWN.format("quux.ReadTimeout: 30"), "may-help", "network"),
        (UNKNOWN.format("QuuxError: the timeout must be a number"), "useless", "same-code"),
        ("all fine\n", None, "no-failure"),
    ],
)
def test_the_decision_and_its_reason(tool: Diagnoser, log: str, decision: str | None, reason: str) -> None:
    told = tool.report([from_text(log)]).retry
    assert (told["decision"], told["reason"]) == (decision, reason)


def test_a_run_that_was_ended_from_outside_is_worth_another_try_and_one_that_its_user_stopped_is_not_decided(tool: Diagnoser) -> None:
    for signal, decision, reason in (("SIGTERM", "may-help", "preemption"), ("SIGINT", None, "stopped-by-user")):
        source = from_text("epoch 1\n")
        source.stop = Stop(signal, 1.0)  # type: ignore[arg-type]
        told = tool.report([source]).retry
        assert (told["decision"], told["reason"]) == (decision, reason)


def test_the_row_of_a_scan_holds_the_decision(tool: Diagnoser) -> None:
    report = tool.report([from_text("AttributeError: 'HybridCache' object has no attribute 'float'\n")], brief=True)
    assert outcome(report)["retry"] == {"decision": "useless", "reason": "same-crash", "entry": "cache-object-float"}
    assert "retry" not in outcome(tool.report([from_text("all fine\n")], brief=True))


@pytest.mark.parametrize(
    ("logs", "status"),
    [
        (["all fine\n"], 0),
        (["RuntimeError: Already borrowed\n"], 10),
        (["AttributeError: 'HybridCache' object has no attribute 'float'\n"], 12),
        (["RuntimeError: Already borrowed\n", "all fine\n"], 10),
        (["RuntimeError: Already borrowed\n", UNKNOWN.format("QuuxError: the tank is empty")], 12),
    ],
)
def test_the_exit_status_of_the_decision(tmp_path: Path, logs: list[str], status: int) -> None:
    names = [f"{number}.log" for number in range(len(logs))]
    for name, log in zip(names, logs, strict=True):
        (tmp_path / name).write_text(log)
    done = subprocess.run(
        [sys.executable, "-m", "troubleshooter", *names, "--exit-by", "retry", "--format", "line"], cwd=tmp_path, capture_output=True,
        encoding="utf-8", timeout=PATIENCE_SECONDS, check=False, env={**os.environ, "TROUBLESHOOT_LANG": "en", "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("troubleshoot: ")
    assert len(done.stdout.splitlines()) == len(logs)
