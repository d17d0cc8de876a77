"""A live pipe: a signal that stops the run still gives the report, and the report says that it was stopped."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

COMMAND = [sys.executable, "-m", "troubleshooter", "--lang", "en"]
FAILURE = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
STEPS = "{'loss': 2.1, 'epoch': 0.1}\n{'loss': 2.0, 'epoch': 0.2}\n"


def started(shown: str, *, ignore: int | None = None) -> subprocess.Popen[bytes]:
    """The tool on a pipe that it has begun to read: what was written came back. ``ignore``: a signal as nohup leaves it."""

    def before() -> None:
        if ignore is not None:
            signal.signal(ignore, signal.SIG_IGN)

    process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=before)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(shown.encode())
    process.stdin.flush()
    assert process.stdout.read(len(shown)) == shown.encode()
    return process


def ended(process: subprocess.Popen[bytes], rest: str = "") -> str:
    """The rest of its output, after the program before it in the pipe printed ``rest`` and ended."""
    out, _ = process.communicate(rest.encode(), timeout=60)
    return out.decode()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_still_reports_what_was_read(name: str) -> None:
    process = started(FAILURE)
    process.send_signal(getattr(signal, name))
    out = ended(process, "the dying program still prints\n")
    assert process.returncode == 1
    assert "still prints" in out
    assert "cache-object-float" in out
    assert name in out


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_run_that_is_stopped_is_told_as_stopped(name: str) -> None:
    process = started(STEPS)
    process.send_signal(getattr(signal, name))
    traceback = "Traceback (most recent call last):\n  File \"train.py\", line 7, in wait\n    sleep(9)\nKeyboardInterrupt\n"
    out = ended(process, traceback)
    assert process.returncode == 3
    assert "The run was stopped by" in out
    assert name in out
    assert "Its last output came" in out
    assert "train.py:7, wait" in out
    assert "py-spy dump" in out
    assert "Nothing wrong" not in out
    assert "no entry explains" not in out


@pytest.mark.slow
def test_a_program_that_does_not_die_is_not_waited_for() -> None:
    process = started(STEPS)
    process.send_signal(signal.SIGTERM)
    assert process.stdout is not None
    out = process.stdout.read().decode()  # standard input stays open
    assert process.wait(60) == 3
    assert "SIGTERM" in out
    ended(process)


def test_a_signal_sent_twice_at_once_is_one() -> None:
    """``timeout`` signals its command, and then the command's group."""
    process = started(STEPS)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)
    assert "SIGTERM" in ended(process)
    assert process.returncode == 3


def test_a_hangup_that_is_ignored_stays_ignored() -> None:
    process = started(STEPS, ignore=signal.SIGHUP)
    process.send_signal(signal.SIGHUP)
    out = ended(process)
    assert "stopped" not in out


def script(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], stdin=subprocess.PIPE, capture_output=True, text=True, timeout=60, check=False)


def test_a_second_signal_ends_the_program() -> None:
    done = script(
        "import os, signal\n"
        "from troubleshooter.cli import pipe\n"
        "from troubleshooter.read.sources import from_text\n"
        "pipe.ONCE_SECONDS = 0.0\n"
        "with pipe.passing(from_text(''), echo=False):\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('first', flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    print('second', flush=True)\n"
    )
    assert done.stdout == "first\n"
    assert done.returncode == -signal.SIGTERM


def test_a_run_that_printed_nothing_before_it_was_stopped() -> None:
    done = script(
        "import os, signal, sys, threading\n"
        "def stop():\n"
        "    while signal.getsignal(signal.SIGTERM) is signal.SIG_DFL: threading.Event().wait(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    os.close(write)\n"
        "read, write = os.pipe()\n"
        "os.dup2(read, 0)\n"
        "threading.Thread(target=stop).start()\n"
        "sys.argv = ['troubleshoot', '--lang', 'en']\n"
        "from troubleshooter.__main__ import main\n"
        "sys.exit(main())\n"
    )
    assert "stopped by SIGTERM" in done.stdout, done.stderr
    assert done.returncode == 3
