"""A process of its own for diagnosing pasted logs: hostile input is bounded in time and cannot stall the server."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

SECONDS = 30.0
START = 60.0
"""Seconds that loading the knowledge may take (it is compiled at the first start)."""


class Overrun(Exception):
    """The log took longer than it may."""


class Failed(Exception):
    """The log cannot be diagnosed; the text says why."""


class Worker:
    """Answers one log at a time in a child process, which is replaced when a log takes too long or breaks it."""

    def __init__(self, entries: Sequence[Path], ignore: dict[str, str], limit: int, seconds: float = SECONDS) -> None:
        self._given = (list(entries), dict(ignore), limit)
        self._seconds = seconds
        self._lock = threading.Lock()
        self._child: Any = None
        self._pipe: Connection | None = None

    def start(self) -> None:
        """Start the child, so that the first paste does not wait for it."""
        with self._lock:
            self._start()

    def ask(self, data: bytes, lang: str) -> str:
        """The answer as HTML. Raises `Overrun` and `Failed`."""
        with self._lock:
            for attempt in (1, 2):
                self._start()
                assert self._pipe is not None
                try:
                    self._pipe.send(lang)
                    self._pipe.send_bytes(data)
                    if not self._pipe.poll(self._seconds):
                        self._stop()
                        raise Overrun(f"{self._seconds:.0f}")
                    known, text = self._pipe.recv()
                except (EOFError, OSError):
                    # The child died: of this log (the second time), or before it.
                    self._stop()
                    if attempt == 2:
                        raise Failed("the diagnosis ended early; try the command line: troubleshoot FILE") from None
                    continue
                if known:
                    return str(text)
                raise Failed(str(text))
        raise AssertionError("unreachable")

    def stop(self) -> None:
        """End the child."""
        with self._lock:
            self._stop()

    def _start(self) -> None:
        if self._child is not None and self._child.is_alive():
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._child = context.Process(target=_serve, args=(theirs, *self._given), daemon=True)
        self._child.start()
        theirs.close()
        try:
            ready = self._pipe.poll(START) and self._pipe.recv() == "ready"
        except (EOFError, OSError):
            ready = False
        if not ready:
            self._stop()
            raise Failed("the knowledge could not be loaded; see: troubleshoot check")

    def _stop(self) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.join(5)
        if self._pipe is not None:
            self._pipe.close()
        self._child = self._pipe = None


def _serve(pipe: Connection, entries: list[Path], ignore: dict[str, str], limit: int) -> None:
    """The child: load once, then a log in, an answer out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from troubleshooter.browse.answer import answer
    from troubleshooter.pipeline import Diagnoser
    from troubleshooter.read.sources import Unreadable

    tool = Diagnoser.load(entries, ignore=ignore)
    pipe.send("ready")
    while True:
        try:
            lang = pipe.recv()
            data = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            pipe.send((True, answer(tool, data, lang, limit)))
        except Unreadable as error:
            pipe.send((False, str(error)))
        except Exception as error:  # one log must not end the server: the reader is told
            pipe.send(
                (False, f"the diagnosis failed ({type(error).__name__}); try the command line: troubleshoot FILE")
            )
