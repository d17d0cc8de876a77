"""The signals that stop a run, and how commands answer them."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Literal

STOPPING: tuple[Literal["SIGINT", "SIGTERM", "SIGHUP"], ...] = ("SIGINT", "SIGTERM", "SIGHUP")
"""Signals that reach a run and this program together: Ctrl-C; a time limit or scancel; a terminal that closes."""


class Ended(KeyboardInterrupt):
    """A signal ended a command: Ctrl-C, a scheduler's SIGTERM, a terminal that was closed."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def handle_stopping(handler: Callable[[int, FrameType | None], None]) -> Callable[[], None]:
    """Handle the signals of `STOPPING`. Call the returned function to restore what handled them before.

    Signals that are already ignored (``nohup``) stay ignored. Only the main thread can set handlers; elsewhere nothing changes.
    """
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, previous in before.items():
            signal.signal(number, previous)

    with contextlib.suppress(ValueError):  # not the main thread
        for name in STOPPING:
            number = getattr(signal, name, None)  # Windows has no SIGHUP
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    return restore


class Signals:
    """Turns the signals of `STOPPING` into `Ended`: at once, or at the end of a shielded part."""

    def __init__(self) -> None:
        self._shielded = False
        self._came: int | None = None

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        """Inside this block, a signal that would end the command raises `Ended`."""
        restore = handle_stopping(self._handle)
        try:
            yield
        finally:
            restore()

    @contextlib.contextmanager
    def shield(self) -> Iterator[None]:
        """Inside this block a signal waits; `Ended` is raised when the block is done."""
        self._shielded = True
        try:
            yield
        finally:
            self._shielded = False
        if self._came is not None:
            raise Ended(self._came)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._came = number
        if not self._shielded:
            raise Ended(number)
