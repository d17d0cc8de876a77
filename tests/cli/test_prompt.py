"""The paste prompt on a real pseudo-terminal: a bracketed paste, the answer, the actions."""

from __future__ import annotations

import fcntl
import os
import select
import struct
import sys
import termios
import time

import pytest

pty = pytest.importorskip("pty", reason="pseudo-terminals are POSIX")

LOG = "Traceback (most recent call last):\r  File \"x.py\", line 1, in f\r    g()\rAttributeError: 'HybridCache' object has no attribute 'float'"


class Terminal:
    """A child on a pseudo-terminal, with what it printed."""

    def __init__(self, *arguments: str) -> None:
        self.seen = ""
        pid, self.fd = pty.fork()
        if pid == 0:
            os.environ.update(TERM="xterm", COLUMNS="100", LINES="60", LC_ALL="C.UTF-8", TROUBLESHOOT_LANG="en")
            os.execv(sys.executable, [sys.executable, "-m", "troubleshooter", *arguments])
        self.pid = pid
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))

    def wait_for(self, text: str, seconds: float = 40.0) -> None:
        end = time.monotonic() + seconds
        while text not in self.seen and time.monotonic() < end:
            ready, _, _ = select.select([self.fd], [], [], 0.2)
            if ready:
                try:
                    data = os.read(self.fd, 65536)
                except OSError:
                    break
                if b"\x1b[6n" in data:  # prompt_toolkit asks where the cursor is
                    os.write(self.fd, b"\x1b[1;1R")
                self.seen += data.decode("utf-8", "replace")
        assert text in self.seen, self.seen[-2000:]

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def status(self) -> int:
        for _ in range(200):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.05)
        os.kill(self.pid, 9)
        raise AssertionError("the prompt did not end")


def test_paste_answer_act_quit() -> None:
    terminal = Terminal()
    terminal.wait_for("Paste a traceback")
    terminal.wait_for("\x1b[?2004h")  # bracketed paste is on: the prompt is ready
    terminal.type(f"\x1b[200~{LOG}\x1b[201~")
    time.sleep(0.3)
    terminal.type("\r")
    terminal.wait_for("cache-object-float")
    terminal.wait_for("[c]opy fix")
    terminal.type("w\r")
    terminal.wait_for("symptom")
    terminal.type("c\r")
    terminal.wait_for("transformers")
    terminal.type("q\r")
    assert terminal.status() == 1


def test_end_of_input_quits() -> None:
    terminal = Terminal()
    terminal.wait_for("Paste a traceback")
    terminal.wait_for("\x1b[?2004h")  # bracketed paste is on: the prompt is ready
    terminal.type("\x04")
    assert terminal.status() == 0
