"""Read a log from a pipe: show it as it arrives, and still report on a run that is stopped."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType

from troubleshooter.read.sources import Source, Stop, decoded
from troubleshooter.read.text import CHUNK
from troubleshooter.signals import STOPPING, handle_stopping

REST_SECONDS = 5.0
"""After a signal, what the dying program still prints is read for at most this long."""
ONCE_SECONDS = 1.0
"""Signals that arrive this soon after the first one count as the same: ``timeout`` sends each twice."""


@contextlib.contextmanager
def passing(source: Source, *, echo: bool) -> Iterator[None]:
    """Inside this block the source reads standard input, echoes it if asked, and survives one signal of `STOPPING`.

    After that signal the rest of the input is read for at most `REST_SECONDS`, and ``source.stop`` says which signal it was.
    A second signal ends this program at once. Signals that are already ignored (``nohup``) stay ignored.
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
        restore = handle_stopping(stopped)
        try:
            yield
        finally:
            restore()


@contextlib.contextmanager
def _awake() -> Iterator[Callable[[int, float | None], bool]]:
    """A function that waits until a descriptor can be read, for some seconds or (None) for ever. A signal ends the waiting.

    It returns True if there is something to read. Windows cannot wait for a pipe; there the read itself waits.
    """
    if os.name == "nt":
        yield lambda fd, seconds: True
        return
    signalled, wake = os.pipe()
    os.set_blocking(wake, False)
    try:
        before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    except ValueError:  # not the main thread: signals do not arrive here
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
