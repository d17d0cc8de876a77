"""A pipe into the tool: what comes is shown as it comes, and a run that is stopped still gets its report."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Literal

from troubleshooter.read.sources import Source, Stop, decoded
from troubleshooter.read.text import CHUNK

REST_SECONDS = 5.0
"""After the signal: how long to read what the dying program still prints."""
ONCE_SECONDS = 1.0
"""Signals that come this soon after the first are the same wish: ``timeout`` sends each twice."""
STOPPING: tuple[Literal["SIGINT", "SIGTERM", "SIGHUP"], ...] = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that end a run and this program together: Ctrl-C, a time limit or scancel, a terminal that closes."""


@contextlib.contextmanager
def passing(source: Source, *, echo: bool) -> Iterator[None]:
    """While it holds, the source reads standard input, echoes it if asked, and survives one signal of `STOPPING`.

    After that signal the rest of the input is read for at most `REST_SECONDS`, and the source knows who stopped it. A
    second one ends this program at once. A signal that is ignored from the start (``nohup``) stays so.
    """
    last_output = time.monotonic()
    deadline: float | None = None
    again = 0.0

    def stopped(number: int, frame: FrameType | None) -> None:
        nonlocal again, deadline
        if source.stop is not None:
            if time.monotonic() >= again:
                restore()
                os.kill(os.getpid(), number)
            return
        name = next(name for name in STOPPING if getattr(signal, name, None) == number)
        source.stop = Stop(name, time.monotonic() - last_output)
        deadline = time.monotonic() + REST_SECONDS
        again = time.monotonic() + ONCE_SECONDS

    def raw() -> Iterator[bytes]:
        nonlocal last_output
        fd = sys.stdin.fileno()
        while True:
            rest = None if deadline is None else deadline - time.monotonic()
            if rest is not None and rest <= 0:
                return
            if not wait(fd, rest):
                continue
            chunk = os.read(fd, CHUNK)
            if not chunk:
                return
            last_output = time.monotonic() if deadline is None else last_output
            if echo:
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
            yield chunk

    source.chunks = lambda: decoded(raw())
    with _awake() as wait:
        restore = _on_signals(stopped)
        try:
            yield
        finally:
            restore()


def _on_signals(handler: Callable[[int, FrameType | None], None]) -> Callable[[], None]:
    """Handle the signals of `STOPPING`; the function that is returned undoes it. Only the main thread can do this."""
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, previous in before.items():
            signal.signal(number, previous)

    with contextlib.suppress(ValueError):  # not the main thread: signals end us
        for name in STOPPING:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    return restore


@contextlib.contextmanager
def _awake() -> Iterator[Callable[[int, float | None], bool]]:
    """A function that waits until a descriptor can be read, for some seconds or for ever; a signal ends the waiting.

    It says whether there is something to read. Windows cannot wait for a pipe: there reading itself waits.
    """
    if os.name == "nt":
        yield lambda fd, seconds: True
        return
    signalled, wake = os.pipe()
    os.set_blocking(wake, False)
    try:
        before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    except ValueError:  # not the main thread: no signal arrives here
        before = None

    def wait(fd: int, seconds: float | None) -> bool:
        ready, _, _ = select.select([fd, signalled], [], [], seconds)
        if signalled in ready:
            os.read(signalled, 64)
        return fd in ready

    try:
        yield wait
    finally:
        if before is not None:
            signal.set_wakeup_fd(before)
        os.close(signalled)
        os.close(wake)
