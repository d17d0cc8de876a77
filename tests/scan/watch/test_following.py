"""Each failure is told once: to the terminal, a file and a webhook, over restarts, kills and a receiver that is away."""

from __future__ import annotations

import http.server
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.scan.conftest import KNOWN, UNKNOWN
from tests.waiting import PATIENCE_SECONDS, wait_for
from troubleshooter.scan.watch.sinks import EventRefused, FileSink, SinkBusy, WebhookSink, wait_s
from troubleshooter.scan.watch.state import WatchState


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "troubleshooter", "watch", "logs", "--jobs", "1", "--lang", "en", *words]


def once(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command("--once", *words), cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
        env={**os.environ, **variables},
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path


class Receiver:
    """A webhook: keeps what it gets, and answers with ``status``."""

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.asked = 0
        self.status = 200
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked += 1
                if outer.status == 200:
                    outer.got.append(json.loads(body))
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *words: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hooks/secret"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


def test_each_failure_is_told_once(folder: Path, receiver: Receiver) -> None:
    (folder / "logs" / "a.log").write_text(KNOWN)
    (folder / "logs" / "b.log").write_text(UNKNOWN.format(n=1))
    (folder / "logs" / "c.log").write_text("fine\n")
    words = ("--to", "failures.jsonl", "--webhook", receiver.url)
    done = once(folder, *words)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert [line.partition("  ")[2][:30] for line in lines] == ["logs/a.log:1: a static or hybr", "logs/b.log:4: unknown failure:"] or len(lines) == 2
    kept = [json.loads(line) for line in (folder / "failures.jsonl").read_text().splitlines()]
    assert kept == receiver.got
    assert [(event["job"], event["known"], event["entry"]) for event in kept] == [
        ("logs/a.log", True, "cache-object-float"), ("logs/b.log", False, None),
    ]  # fmt: skip
    assert kept[0]["retry"] == {"decision": "useless", "reason": "same-crash", "entry": "cache-object-float"}
    assert "secret" not in (folder / "troubleshoot-watch.sqlite").read_bytes().decode("latin-1")
    again = once(folder, *words)
    assert (again.returncode, again.stdout) == (0, "")
    (folder / "logs" / "a.log").write_text("step\n" + KNOWN)  # it grew: the failure is known
    (folder / "logs" / "d.log").write_text(UNKNOWN.format(n=2))
    done = once(folder, *words)
    assert (done.returncode, len(done.stdout.splitlines())) == (3, 1)
    (folder / "logs" / "a.log").write_text(KNOWN)  # it became shorter: another run writes to it
    assert once(folder, *words).returncode == 1
    assert [event["job"] for event in receiver.got] == ["logs/a.log", "logs/b.log", "logs/d.log", "logs/a.log"]


@pytest.fixture
def started(folder: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    running: list[subprocess.Popen[str]] = []

    def start(*words: str) -> subprocess.Popen[str]:
        running.append(
            subprocess.Popen(
                command("--every", "0.05", *words), cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                start_new_session=True,
            )
        )  # fmt: skip
        return running[-1]

    yield start
    for process in running:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def count(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_new_and_growing_logs_are_followed_until_ctrl_c(folder: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    process = started("--to", "failures.jsonl")
    kept = folder / "failures.jsonl"
    (folder / "logs" / "a.log").write_text(KNOWN)
    wait_for(lambda: count(kept) == 1)
    with (folder / "logs" / "b.log").open("w") as file:
        file.write("step 1\n")
        file.flush()
        (folder / "logs" / "c.log").write_text(KNOWN)
        wait_for(lambda: count(kept) == 2)
        file.write(UNKNOWN.format(n=1))
    wait_for(lambda: count(kept) == 3)
    os.killpg(process.pid, signal.SIGINT)
    output, error = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0
    assert error == "troubleshoot watch: ended; 3 failures told\n"
    assert len(output.splitlines()) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_kills_lose_and_double_nothing(folder: Path, started: Callable[..., subprocess.Popen[str]]) -> None:
    """The file holds each failure once, whenever the watch was killed."""
    kept = folder / "failures.jsonl"
    for number in range(6):
        (folder / "logs" / f"{number}.log").write_text(UNKNOWN.format(n=1) + f"QuuxError: {'x' * number} empty\n")
    for wanted in (1, 3, 5):
        process = started("--to", "failures.jsonl")
        wait_for(lambda wanted=wanted: count(kept) >= wanted)  # type: ignore[misc]
        process.kill()
        process.wait(PATIENCE_SECONDS)
    assert once(folder, "--to", "failures.jsonl").returncode in (0, 3)
    assert sorted(json.loads(line)["job"] for line in kept.read_text().splitlines()) == [f"logs/{n}.log" for n in range(6)]


def test_a_receiver_that_is_down_gets_all_later(folder: Path, receiver: Receiver) -> None:
    receiver.status = 503
    (folder / "logs" / "a.log").write_text(KNOWN)
    (folder / "logs" / "b.log").write_text(KNOWN)
    done = once(folder, TROUBLESHOOT_WEBHOOK=receiver.url)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr.splitlines() == [
        "troubleshoot watch: 127.0.0.1 answered 503 Service Unavailable; the report waits and is sent again",
        "troubleshoot watch: 2 reports wait for the webhook; the same command sends them",
    ]
    receiver.status = 200
    wait_for(lambda: not once(folder, TROUBLESHOOT_WEBHOOK=receiver.url).stderr)
    assert [event["job"] for event in receiver.got] == ["logs/a.log", "logs/b.log"]


def test_logs_that_are_there_already_may_be_passed_over(folder: Path) -> None:
    (folder / "logs" / "a.log").write_text(KNOWN)
    assert once(folder, "--from-now").stdout == ""
    (folder / "logs" / "b.log").write_text(KNOWN)
    assert "logs/b.log:1" in once(folder, "--from-now").stdout


def test_a_run_that_its_user_stopped_is_no_failure(folder: Path) -> None:
    stopped = 'Traceback (most recent call last):\n  File "/x/train.py", line 3, in step\n    time.sleep(1)\nKeyboardInterrupt\n'
    (folder / "logs" / "a.log").write_text("step 1\n" + stopped)
    (folder / "logs" / "b.log").write_text("^C" + stopped)
    done = once(folder)
    assert (done.returncode, done.stdout) == (0, "")


def test_two_watches_on_one_state_are_refused(folder: Path) -> None:
    state = WatchState(folder / "troubleshoot-watch.sqlite")
    try:
        done = once(folder)
    finally:
        state.close()
    assert done.returncode == 2
    assert "another watch uses it; end that one, or name another file with --state" in done.stderr


def test_a_state_of_a_newer_version_or_of_something_else_is_refused(folder: Path) -> None:
    import sqlite3

    with sqlite3.connect(folder / "newer.sqlite") as base:
        base.execute("PRAGMA user_version = 99")
    base.close()
    done = once(folder, "--state", "newer.sqlite")
    assert (done.returncode, "written by a newer troubleshoot; upgrade" in done.stderr) == (2, True)
    (folder / "train.log").write_text("step 1\n" * 1000)
    done = once(folder, "--state", "train.log")
    assert (done.returncode, "is no state of a watch" in done.stderr) == (2, True)
    assert (folder / "train.log").read_text() == "step 1\n" * 1000


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_full_disk_is_told_and_nothing_is_lost(folder: Path) -> None:
    import resource

    once(folder)
    for number in range(40):
        (folder / "logs" / f"{number}.log").write_text(KNOWN)
    done = subprocess.run(
        command("--once"), cwd=folder, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_480, 20_480)),
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "troubleshoot-watch.sqlite: cannot be used: " in done.stderr
    assert "Traceback" not in done.stderr
    told = len(done.stdout.splitlines())
    assert told + len(once(folder).stdout.splitlines()) == 40


def test_a_log_cannot_steer_a_terminal_or_a_chat(folder: Path, receiver: Receiver) -> None:
    name = "a\n\x1b[31m'\"<!channel>.log"
    (folder / "logs" / name).write_text("QuuxError: <!here> @everyone `x` \x1b]0;t\x07 token hf_" + "aBcDeFgHiJ" * 3 + "KLMN\n")
    done = once(folder, "--webhook", receiver.url)
    assert done.stdout.replace("\n", "").isprintable()
    assert len(done.stdout.splitlines()) == len(receiver.got) == 1
    text = receiver.got[0]["text"]
    assert text.isprintable()
    assert not set("<>@`") & set(text)
    assert "aBcDeFgHiJ" not in json.dumps(receiver.got)


def event(id_: str = "e1") -> dict[str, Any]:
    return {"id": id_, "text": "t"}


@pytest.mark.parametrize("cut", [0, 1, 5, 12])
def test_a_line_that_was_cut_is_completed_and_a_whole_one_is_not_doubled(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "failures.jsonl"
    sink = FileSink(path)
    sink.send(event("e0"))
    sink.send(event("e1"))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - cut])
    sink.send(event("e1"))
    assert path.read_bytes() == whole


def test_a_file_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    with pytest.raises(SinkBusy, match="No such file or directory"):
        FileSink(tmp_path / "none" / "x.jsonl").send(event())


@pytest.mark.parametrize(("status", "raised"), [(500, SinkBusy), (429, SinkBusy), (404, SinkBusy), (302, SinkBusy), (400, EventRefused), (413, EventRefused)])
def test_what_a_receiver_answers(receiver: Receiver, status: int, raised: type[Exception]) -> None:
    receiver.status = status
    with pytest.raises(raised, match=f"127.0.0.1 answered {status}") as told:
        WebhookSink(receiver.url).send(event())
    assert "secret" not in str(told.value)


def test_a_receiver_that_is_not_there(receiver: Receiver) -> None:
    receiver.server.shutdown()
    receiver.server.server_close()
    with pytest.raises(SinkBusy, match="Connection refused"):
        WebhookSink(receiver.url).send(event())


def test_waits_grow_and_are_bounded() -> None:
    assert [wait_s(tries) for tries in (0, 1, 2, 50)] == [2.0, 4.0, 8.0, 300.0]
    assert wait_s(0, asked_s=60.0) == 60.0
    assert wait_s(0, asked_s=1e9) == 300.0
