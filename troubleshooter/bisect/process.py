"""Runs a user's command for one trial: bounded in time, disk and memory of what it prints, and nothing of it stays."""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kb.errors import UsageError

__all__ = ["CommandEnd", "run"]

KEPT_BYTES: Final = 1 << 20
"""Of a command's output its last MiB is read; a traceback stands at the end."""
MAX_DISK_BYTES: Final = 20 << 30
"""So much may the free space of the temporary folder's disk fall while a command runs."""
_TICK_SECONDS: Final = 0.25
_PATIENCE_SECONDS: Final = 5.0
"""A process in an uninterruptible wait ends only when the wait is over; it is not waited for any longer."""
_MARK: Final = "TROUBLESHOOT_TRIAL"


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended. ``status`` is None where it was stopped, and ``stopped`` then says why."""

    status: int | None
    output: str
    stopped: str = ""
    seconds: float = 0.0


def run(
    command: Sequence[str],
    seconds: float,
    environ: Mapping[str, str],
    temporary: Path,
    disk_bytes: int = MAX_DISK_BYTES,
) -> CommandEnd:
    """Run a command without a terminal and without input, in the current folder; end all that it started.

    ``disk_bytes``: the free space of the disk of ``temporary`` may fall by this much. Memory is not limited.
    Raises UsageError when the command cannot be started.
    """
    mark = secrets.token_hex(8)
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**environ, _MARK: mark, "TMPDIR": str(temporary)},
            start_new_session=os.name == "posix",
        )
    except OSError as problem:
        raise UsageError(
            f"bisect: {command[0]} cannot be started ({problem.strerror}); check the command after `--`"
        ) from problem
    stopped, kept = "", bytearray()
    try:
        stopped, kept = _listen(child, started + seconds, seconds, temporary, disk_bytes)
    finally:
        _end_all(child, mark)
    text = bytes(kept).decode("utf-8", "replace")
    return CommandEnd(None if stopped else child.returncode, text, stopped, time.monotonic() - started)


def _listen(
    child: subprocess.Popen[bytes], deadline: float, seconds: float, temporary: Path, disk_bytes: int
) -> tuple[str, bytearray]:
    """Read until the command ends (processes that it left behind are not waited for) or must be stopped."""
    kept = bytearray()
    assert child.stdout is not None
    free = shutil.disk_usage(temporary).free
    with selectors.DefaultSelector() as selector:
        os.set_blocking(child.stdout.fileno(), False)
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            ended = child.poll() is not None
            events = selector.select(0 if ended else _TICK_SECONDS)
            chunk = os.read(child.stdout.fileno(), 1 << 16) if events else b""
            kept += chunk
            del kept[:-KEPT_BYTES]
            if ended and not chunk:
                return "", kept
            if events and not chunk:  # it closed its output and goes on
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(_TICK_SECONDS)
            if time.monotonic() > deadline:
                return f"it did not end within {seconds:g} s", kept
            if free - shutil.disk_usage(temporary).free > disk_bytes:
                return f"it filled the disk with more than {disk_bytes / (1 << 30):g} GiB", kept


def _end_all(child: subprocess.Popen[bytes], mark: str) -> None:
    """End the command, its process group, and what left the group: those processes carry the trial's mark."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
    child.wait()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (found := _marked(mark)) and time.monotonic() < deadline:  # one that forks meanwhile is found the next time
        # All are stopped before the first one is killed, so that none forks meanwhile.
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        time.sleep(0.01)
    if child.stdout is not None:
        child.stdout.close()


def _marked(mark: str) -> list[int]:
    """The processes whose environment holds the mark (Linux; elsewhere only the process group is ended)."""
    found = []
    wanted = f"{_MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found
