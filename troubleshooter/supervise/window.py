"""The user's terminal, and the pseudo-terminal that the run gets instead: settings, width, keys."""

from __future__ import annotations

import fcntl
import os
import pty
import termios
import tty
from contextlib import suppress

KEYS_BYTES = 4096


class Window:
    """The user's terminal (``outer``), with the two ends of the run's: ``master`` is ours, ``slave`` is the run's."""

    def __init__(self, outer: int, *, keys: bool) -> None:
        """``keys``: whether the run reads the keys of this terminal; else Ctrl-C reaches us as a signal."""
        self.outer = outer
        self.has_keys = keys
        self.settings = termios.tcgetattr(outer)
        self.master, self.slave = pty.openpty()
        with suppress(termios.error):
            termios.tcsetattr(self.slave, termios.TCSANOW, self.settings)
        self._is_raw = False
        self.resize()

    def resize(self) -> None:
        """Give the run's terminal the size of the user's. The kernel signals the change to the run."""
        with suppress(OSError):
            size = fcntl.ioctl(self.outer, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self.master, termios.TIOCSWINSZ, size)

    def is_ours(self) -> bool:
        """Whether this process is in the foreground of the user's terminal. If not, its keys and settings belong to another."""
        try:
            return os.tcgetpgrp(self.outer) == os.getpgrp()
        except OSError:
            return False

    def take(self) -> None:
        """Let all keys through to the run's terminal, which knows what Ctrl-C means there."""
        if self.is_ours():
            with suppress(termios.error):
                if self.has_keys:
                    tty.setraw(self.outer, termios.TCSANOW)
                else:  # the run's terminal has made the line ends already
                    settings = termios.tcgetattr(self.outer)
                    settings[1] &= ~termios.OPOST
                    termios.tcsetattr(self.outer, termios.TCSANOW, settings)
                self._is_raw = True

    def give_back(self) -> None:
        """Restore the user's settings."""
        if self._is_raw:
            self._is_raw = False
            with suppress(termios.error):
                termios.tcsetattr(self.outer, termios.TCSADRAIN, self.settings)

    @property
    def line_end(self) -> str:
        """The characters that begin a new line on the user's terminal."""
        return "\r\n" if self._is_raw else "\n"

    def keys(self) -> bytes | None:
        """The keys that were pressed; None if the terminal is gone. Call it only if `is_ours`."""
        try:
            return os.read(self.outer, KEYS_BYTES) or None
        except OSError:
            return None

    def press(self, keys: bytes) -> None:
        """Pass keys on to the run."""
        with suppress(OSError):
            os.write(self.master, keys)
