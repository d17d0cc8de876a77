"""Scans whose processes are killed: no row is lost or doubled, and no process stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.scan.conftest import command, scan
from tests.waiting import PATIENCE_SECONDS, wait_for
from troubleshooter.verify.supervisor import processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")

# Run by each Python process of a scan at its start. Who opens a log named "stuck" says its number in a file and then
# does nothing any more; who opens one named "poison" is killed, as the system does it for lack of memory.
AT_START = """
import os, signal, sys
{more}
def opened(event, arguments):
    if event != "open" or not isinstance(arguments[0], (str, bytes, os.PathLike)):
        return
    name = os.path.basename(os.fsdecode(arguments[0]))
    if name == "poison.log":
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "stuck.log" and len(os.listdir(os.environ["STUCK"])) < int(os.environ.get("STUCK_TIMES", 9)):
        with open(os.environ["STUCK"] + "/" + str(os.getpid()), "w"):
            pass
        while True:
            signal.pause()
sys.addaudithook(opened)
"""
ON_ANOTHER_SYSTEM = "if any('start_worker' in word for word in sys.orig_argv): sys.platform = 'another'"


@pytest.fixture
def at_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Makes processes that are started from now on react to logs of certain names; the folder where they say so."""

    def prepare(more: str = "") -> Path:
        stuck = tmp_path / "stuck"
        stuck.mkdir()
        (tmp_path / "sitecustomize.py").write_text(AT_START.format(more=more))
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', os.getcwd())}")
        monkeypatch.setenv("STUCK", str(stuck))
        return stuck

    return prepare


@pytest.fixture
def started(logs: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts scans of the logs, each with a group of its own; what is left of them is ended after the test."""
    running: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        running.append(
            subprocess.Popen(
                command("logs", "--format", "json", *arguments), cwd=logs.parent, text=True, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True,
            )
        )  # fmt: skip
        return running[-1]

    yield start
    for process in running:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def alive(session: int) -> set[int]:
    """The living processes of a session."""
    return {process.pid for process in processes() if process.session == session and process.state not in "ZX"}


def rows(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.parametrize(
    ("name", "system"), [("SIGKILL", "Linux"), ("SIGTERM", "Linux"), ("SIGHUP", "Linux"), ("SIGKILL", "another")]
)
def test_no_process_outlives_a_scan(
    logs: Path, at_start: Callable[..., Path], started: Callable[..., subprocess.Popen[str]], name: str, system: str
) -> None:
    """Not even a process in the middle of a log; this is tried with the kernel's help and without it."""
    stuck = at_start(ON_ANOTHER_SYSTEM if system == "another" else "")
    (logs / "g0" / "stuck.log").write_text("x\n")
    process = started("--jobs", "2")
    wait_for(lambda: rows(logs.parent / "troubleshoot-scan.jsonl") > 24 and list(stuck.iterdir()))
    assert len(alive(process.pid)) == 3
    process.send_signal(signal.Signals[name])
    number = signal.Signals[name]
    assert process.wait(PATIENCE_SECONDS) == (-number if name == "SIGKILL" else 128 + number)
    wait_for(lambda: not alive(process.pid))


def test_a_killed_scan_goes_on_where_it_was(
    logs: Path, at_start: Callable[..., Path], started: Callable[..., subprocess.Popen[str]]
) -> None:
    whole = scan("logs", "--record", "whole.jsonl", cwd=logs.parent)
    record = logs.parent / "troubleshoot-scan.jsonl"
    stuck = at_start()
    (logs / "g0" / "stuck.log").write_text("x\n")
    process = started("--jobs", "2")
    wait_for(lambda: rows(record) > 24 and list(stuck.iterdir()))
    process.kill()
    process.wait(PATIENCE_SECONDS)
    (logs / "g0" / "stuck.log").unlink()
    with record.open("ab") as file:
        file.write(b'{"schema_version": 1, "job": "half a li')
    assert scan("logs", cwd=logs.parent).stdout == whole.stdout
    counted = Counter(json.loads(line)["job"] for line in record.read_bytes().splitlines())
    assert len(counted) == 121
    assert set(counted.values()) == {1}


@pytest.mark.parametrize(
    ("name", "said"), [("SIGINT", "interrupted"), ("SIGTERM", "ended by SIGTERM"), ("SIGHUP", "ended by SIGHUP")]
)
def test_an_interrupted_scan_ends_with_a_sentence(
    logs: Path, at_start: Callable[..., Path], started: Callable[..., subprocess.Popen[str]], name: str, said: str
) -> None:
    stuck = at_start()
    (logs / "g0" / "stuck.log").write_text("x\n")
    process = started("--jobs", "2")
    wait_for(lambda: rows(logs.parent / "troubleshoot-scan.jsonl") > 24 and list(stuck.iterdir()))
    os.killpg(process.pid, signal.Signals[name])  # as a terminal and Slurm do it
    _, error = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 128 + signal.Signals[name]
    assert error.strip().splitlines() == [
        f"troubleshoot scan: {said}; finished jobs are kept in troubleshoot-scan.jsonl: run the same command again to go on from there"
    ]
    assert not alive(process.pid)


@pytest.mark.parametrize("kills", [1, 2])
def test_a_killed_worker_costs_at_most_the_log_that_it_was_at(
    logs: Path, at_start: Callable[..., Path], started: Callable[..., subprocess.Popen[str]], kills: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """If the worker was killed by chance, nothing is lost: the log is tried again."""
    stuck = at_start()
    monkeypatch.setenv("STUCK_TIMES", str(kills))
    (logs / "g0" / "stuck.log").write_text("all fine\n")
    process = started("--jobs", "2")
    for number in range(kills):
        wait_for(lambda wanted=number: len(list(stuck.iterdir())) > wanted)  # type: ignore[misc]
        os.kill(max(map(int, (path.name for path in stuck.iterdir() if int(path.name) in alive(process.pid)))), signal.SIGKILL)
    output, error = process.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in error
    told = json.loads(output)
    assert (told["jobs"], told["healthy"], [group["jobs"] for group in (*told["failures"], *told["unknown"])]) == (122, 42 - kills, [40, 40])
    why = [bad["error"].split(" (")[0] for bad in told["unreadable"] if bad["job"] == "logs/g0/stuck.log"]
    assert why == ([] if kills == 1 else ["logs/g0/stuck.log: the process that read it was ended by SIGKILL, twice"])
    counted = Counter(json.loads(line)["job"] for line in (logs.parent / "troubleshoot-scan.jsonl").read_bytes().splitlines())
    assert len(counted) == 122
    assert set(counted.values()) == {1}


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_poisoned_logs_are_told_and_the_others_are_done(logs: Path, at_start: Callable[..., Path], jobs: str) -> None:
    whole = json.loads(scan("logs", "--record", "whole.jsonl", cwd=logs.parent).stdout)
    at_start()
    for folder in ("g1", "g3"):
        (logs / folder / "poison.log").write_text("x\n")
    done = scan("logs", "--jobs", jobs, cwd=logs.parent)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    poisoned = [bad["job"] for bad in told.pop("unreadable") if "SIGKILL" in bad["error"]]
    assert poisoned == ["logs/g1/poison.log", "logs/g3/poison.log"]
    assert (told.pop("jobs"), told.pop("files")) == (whole["jobs"] + 2, whole["files"] + 2)
    assert told.items() <= whole.items()


def test_workers_that_cannot_start_are_told(logs: Path, at_start: Callable[..., Path]) -> None:
    at_start("if any('start_worker' in word for word in sys.orig_argv): os._exit(7)")
    done = scan("logs", cwd=logs.parent)
    assert done.returncode == 2
    assert "3 workers ended before they were ready, the last one ended with exit status 7" in done.stderr
    assert "Traceback" not in done.stderr


def test_modules_of_the_working_folder_are_not_imported(logs: Path) -> None:
    """By the workers; who starts the scan with ``python -m`` has them on the path."""
    for name in ("json", "signal", "troubleshooter"):
        (logs.parent / f"{name}.py").write_text("raise SystemExit('imported from the working folder')\n")
    script = Path(sys.executable).with_name("troubleshoot")
    if not script.exists():
        pytest.skip("the command is not installed beside this Python")
    done = subprocess.run([script, "scan", "logs"], cwd=logs.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr


def test_a_log_on_which_its_worker_hangs_is_told_and_the_others_are_done(logs: Path, at_start: Callable[..., Path]) -> None:
    stuck = at_start()
    (logs / "g0" / "stuck.log").write_text("x\n")
    done = scan("logs", "--jobs", "2", "--stalled-after", "1", cwd=logs.parent)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert [bad["error"] for bad in told["unreadable"] if bad["job"] == "logs/g0/stuck.log"] == [
        "logs/g0/stuck.log: the process that read it gave no answer for 1 s and was ended, twice; look at it alone: troubleshoot FILE"
    ]
    assert (told["jobs"], told["healthy"]) == (122, 40)
    assert len(list(stuck.iterdir())) == 2
