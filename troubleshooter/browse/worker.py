"""Diagnose pasted logs in a separate process, so that a hostile log is stopped in time and cannot stall the server."""

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
"""A diagnosis may take this many seconds."""
PATIENCE = 5.0
"""A log waits this many seconds for a worker that is still loading; the first one may have to compile the entries."""


class Overrun(Exception):
    """The diagnosis took longer than it may. The text is the number of seconds."""


class Failed(TroubleshootError):
    """The log cannot be diagnosed; the text says why."""


class Starting(Exception):
    """The entries are still being loaded; the log can be sent again later."""


class _Child:
    """One process, and a thread that waits until it reports that the entries are loaded."""

    def __init__(self, given: tuple[object, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, *given), daemon=True)
        self.process.start()
        theirs.close()
        self.settled = threading.Event()
        """Set when the entries are loaded, or when the process ended before that."""
        self.loaded = False
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        with suppress(EOFError, OSError):
            self.loaded = self.pipe.recv() == READY
        self.settled.set()

    def end(self) -> None:
        self.process.kill()
        self.process.join(5)
        self.settled.wait(5)  # until the thread no longer uses the pipe
        self.pipe.close()


class Worker:
    """Diagnoses one log at a time in a child process. The child is replaced when a log takes too long or crashes it."""

    def __init__(
        self, entries: Sequence[Path], ignore: dict[str, str], limit: int, seconds: float = SECONDS,
        patience: float = PATIENCE,
    ) -> None:  # fmt: skip
        """``limit``: bytes that a compressed log may unpack to; ``seconds``: time limit for each log; ``patience``: seconds
        that a log waits for the entries to be loaded."""
        self._given = (list(entries), dict(ignore), limit)
        self.seconds = seconds
        self.patience = patience
        self._lock = threading.Lock()
        self._child: _Child | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id; None if no child runs."""
        return self._child.process.pid if self._child is not None else None

    def start(self) -> None:
        """Start the child, so that the first paste waits less. Does not wait for it."""
        with self._lock:
            self._running()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the entries are loaded. Raises `Failed` if they cannot be loaded, and `Starting` if ``seconds`` have
        passed first."""
        with self._lock:
            child = self._running()
        if not child.settled.wait(seconds):
            raise Starting
        if not child.loaded:
            with self._lock:
                self._end(child)
            raise Failed("the entries could not be loaded; run: troubleshoot check")

    def ask(self, data: bytes | bytearray, lang: str) -> str:
        """The answer as HTML. Raises `Overrun`, `Failed`, and `Starting` if the entries are not loaded yet."""
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
                    # If a second child dies, too, this log is the cause; the first may have died of an earlier one.
                    died += 1
                    if died == 2:
                        raise Failed(_say("ended-early", lang)) from None
                    continue
            if known:
                return text
            raise Failed(text)

    def _told(self, child: _Child, data: bytes | bytearray, lang: str) -> tuple[bool, str]:
        """Send the log to the child and take its answer: (True, HTML) or (False, the reason).

        Raises EOFError or OSError if the child died, and `Overrun` if it took too long.
        """
        late = threading.Event()

        def stop() -> None:
            late.set()
            child.process.kill()

        # Sending can block as well (a stopped process reads nothing). Killing the process ends both.
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
        """Kill the child, even in the middle of a log."""
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
    """Code of the child: load the entries once, then answer one log after another until the pipe closes."""
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
        except Exception as error:  # one log must not end the server: show the reader the error
            pipe.send(
                (False, f"the diagnosis failed ({type(error).__name__}); try the command line: troubleshoot FILE")
            )
