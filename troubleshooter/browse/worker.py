"""A process of its own for diagnosing pasted logs: hostile input is bounded in time and cannot stall the server."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from kb.errors import TroubleshootError
from kb.text.catalog import Section

_say = Section("browse")

READY = "ready"
SECONDS = 30.0
"""Seconds that a log may take."""
PATIENCE = 5.0
"""Seconds that a log waits for a worker that is still loading; the first one may have to compile the entries."""


class Overrun(Exception):
    """The log took longer than it may."""


class Failed(TroubleshootError):
    """The log cannot be diagnosed; the text says why."""


class Starting(Exception):
    """The entries are still being loaded; the log can be sent again later."""


class _Child:
    """One process. A thread waits for its word that the entries are loaded."""

    def __init__(self, given: tuple[object, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, *given), daemon=True)
        self.process.start()
        theirs.close()
        self.settled = threading.Event()
        """Set once the entries are loaded, or the process ended before."""
        self.loaded = False
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        with suppress(EOFError, OSError):
            self.loaded = self.pipe.recv() == READY
        self.settled.set()

    def end(self) -> None:
        self.process.kill()
        self.process.join(5)
        self.settled.wait(5)  # the thread is done with the pipe
        self.pipe.close()


class Worker:
    """Answers one log at a time in a child process, which is replaced when a log takes too long or breaks it."""

    def __init__(
        self, entries: Sequence[Path], ignore: dict[str, str], limit: int, seconds: float = SECONDS,
        patience: float = PATIENCE,
    ) -> None:  # fmt: skip
        """``limit``: bytes that a packed log may unpack to; ``seconds``: for a log; ``patience``: seconds that a log waits
        for the entries to be loaded."""
        self._given = (list(entries), dict(ignore), limit)
        self.seconds = seconds
        self.patience = patience
        self._lock = threading.Lock()
        self._child: _Child | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id; None where none runs."""
        return self._child.process.pid if self._child is not None else None

    def start(self) -> None:
        """Start the child, so that the first paste waits less. Does not wait for it."""
        with self._lock:
            self._running()

    def wait(self, seconds: float | None = None) -> None:
        """Return when the entries are loaded, however long it takes to compile them. Raises `Failed` where they cannot be
        loaded, `Starting` after ``seconds``."""
        with self._lock:
            child = self._running()
        if not child.settled.wait(seconds):
            raise Starting
        if not child.loaded:
            with self._lock:
                self._end(child)
            raise Failed("the knowledge could not be loaded; see: troubleshoot check")

    def ask(self, data: bytes | bytearray, lang: str) -> str:
        """The answer as HTML. Raises `Overrun`, `Failed`, and `Starting` where the entries are not loaded yet."""
        died = 0
        while True:
            self.wait(self.patience)
            with self._lock:
                child = self._child
                if child is None or not child.loaded:  # another log ended it meanwhile
                    continue
                try:
                    known, text = self._told(child, data, lang)
                except (EOFError, OSError):
                    self._end(child)
                    # The child died: of this log (the second time), or before it.
                    died += 1
                    if died == 2:
                        raise Failed(_say("ended-early", lang)) from None
                    continue
            if known:
                return text
            raise Failed(text)

    def _told(self, child: _Child, data: bytes | bytearray, lang: str) -> tuple[bool, str]:
        """What the child says. Raises EOFError or OSError where it died, `Overrun` where it took too long."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.process.kill()

        # A stopped process takes no bytes, so that sending must have an end, too: that of the process ends both.
        timer = threading.Timer(self.seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            child.pipe.send(lang)
            child.pipe.send_bytes(data)
            known, text = child.pipe.recv()
        except (EOFError, OSError):
            if late.is_set():
                self._end(child)
                raise Overrun(f"{self.seconds:.0f}") from None
            raise
        finally:
            timer.cancel()
        return bool(known), str(text)

    def stop(self) -> None:
        """End the child, whatever it does."""
        if (child := self._child) is not None:
            child.process.kill()
        with self._lock:
            if self._child is not None:
                self._end(self._child)

    def _running(self) -> _Child:
        if self._child is None or (self._child.loaded and not self._child.process.is_alive()):
            if self._child is not None:
                self._child.end()
            self._child = _Child(self._given)
        return self._child

    def _end(self, child: _Child) -> None:
        child.end()
        if self._child is child:
            self._child = None


def _serve(pipe: Connection, entries: list[Path], ignore: dict[str, str], limit: int) -> None:
    """The child: load once, then a log in, an answer out, until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from troubleshooter.browse.answer import answer
    from troubleshooter.pipeline import Diagnoser
    from troubleshooter.read.sources import Unreadable

    tool = Diagnoser.load(entries, ignore=ignore)
    pipe.send(READY)
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
