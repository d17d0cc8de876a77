"""A pipe into the tool: what comes is shown as it comes, and Ctrl-C on a hung run still gives a report."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

from troubleshooter.read.sources import Source, decoded
from troubleshooter.read.text import CHUNK

REST_SECONDS = 5.0
"""After Ctrl-C: how long to read what the dying program still prints."""


class _Interrupted(Exception):
    """Ctrl-C while waiting for input."""


@contextlib.contextmanager
def passing(source: Source, *, echo: bool) -> Iterator[None]:
    """While it holds, the source reads standard input, echoes it if asked, and survives one Ctrl-C."""
    deadline: float | None = None
    waiting = False

    def interrupted(number: int, frame: FrameType | None) -> None:
        nonlocal deadline
        if deadline is not None:
            os._exit(130)
        deadline = time.monotonic() + REST_SECONDS
        if waiting:
            raise _Interrupted

    def raw() -> Iterator[bytes]:
        nonlocal waiting
        fd = sys.stdin.fileno()
        while True:
            try:
                if deadline is not None:
                    ready, _, _ = select.select([fd], [], [], max(0.0, deadline - time.monotonic()))
                    if not ready:
                        return
                waiting = True
                chunk = os.read(fd, CHUNK)
                waiting = False
            except _Interrupted:
                waiting = False
                continue
            if not chunk:
                return
            if echo:
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
            yield chunk

    source.chunks = lambda: decoded(raw())
    try:
        previous = signal.signal(signal.SIGINT, interrupted)
    except ValueError:  # not the main thread: no handler, Ctrl-C ends us
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
