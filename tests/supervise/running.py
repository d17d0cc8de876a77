"""Starts `troubleshoot run` as a user does: with pipes, or on a terminal of its own."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.waiting import wait_for

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "troubleshooter", "run", "--lang", "en"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def run(folder: Path, *words: str, options: tuple[str, ...] = (), **given: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end, its log in ``folder``."""
    return subprocess.run(
        [*COMMAND, "--log", str(folder), *options, "--", *words],
        stdin=given.pop("stdin", subprocess.DEVNULL), stdout=given.pop("stdout", subprocess.PIPE), stderr=given.pop("stderr", subprocess.PIPE), timeout=120, check=False, env={**ENVIRONMENT, **given.pop("env", {})}, **given,
    )  # fmt: skip


def script(code: str) -> tuple[str, ...]:
    """The command that runs this code."""
    return sys.executable, "-u", "-c", code


def noted(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return found


class OnTerminal:
    """The tool on a terminal: what it shows is in ``shown``."""

    def __init__(self, folder: Path, *words: str, options: tuple[str, ...] = (), env: dict[str, str] | None = None) -> None:
        self.shown = b""
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execve(
                sys.executable, [*COMMAND, "--log", str(folder), *options, "--", *words], {**ENVIRONMENT, "TERM": "xterm", **(env or {})}
            )

    def read(self) -> bool:
        """Take what is there; whether the terminal is still open."""
        while select.select([self.master], [], [], 0)[0]:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.shown += data
        return True

    def shows(self, text: bytes) -> None:
        """Wait until it shows this."""
        wait_for(lambda: (self.read() and text in self.shown) or text in self.shown)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> int:
        """Its exit status, as Python counts."""
        wait_for(lambda: not self.read())
        _, status = os.waitpid(self.pid, 0)
        os.close(self.master)
        return os.waitstatus_to_exitcode(status)


def children_of(pid: int) -> list[int]:
    """The processes that a process started, by their ids."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                parent = int(Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == pid:
                found.append(int(name))
    return sorted(found)
