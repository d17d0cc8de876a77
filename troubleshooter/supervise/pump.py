"""Move the output of a run from the kernel into its log, and on to where the user reads it.

Nothing is lost where the process that does it is killed: `os.splice` moves bytes from a pipe into the log within one system
call, so at each moment they are in the one or in the other. What comes from a terminal goes through such a pipe, too.
"""

from __future__ import annotations

import errno
import os
import select
import sys
import time
from collections.abc import Sequence
from contextlib import suppress

from troubleshooter.supervise.shared import Shared

CHUNK_BYTES = 1 << 16
RETRY_SECONDS = 10.0
"""If the log cannot be written (a full disk), writing is tried again after this time."""
_GONE = (errno.EPIPE, errno.EIO, errno.EBADF, errno.ECONNRESET, errno.ENXIO)


class Inlet:
    """One stream of the run: the descriptor that it is read from, and the one that it is passed on to.

    A terminal has a pipe between itself and the log, because it cannot be spliced into a file.
    """

    __slots__ = ("held", "is_open", "out", "pipe", "source")

    def __init__(self, source: int, out: int | None, *, terminal: bool) -> None:
        self.source = source
        self.out = out
        self.pipe = os.pipe() if terminal else None
        self.is_open = True
        self.held: int | None = None
        """The other end of the terminal, held open while the command lives: it may close its own ends for a time."""


class Pump:
    """``log`` is None if no log can be written at all. ``shared`` holds the position, for a second pump that takes over."""

    def __init__(self, inlets: Sequence[Inlet], log: int | None, shared: Shared) -> None:
        self.inlets = inlets
        self.log = log
        self.shared = shared
        self._splices = hasattr(os, "splice")
        self._log_fails_until = 0.0
        self._lost = 0
        self._why = ""

    def go_on(self) -> None:
        """Take over from a pump that was killed. The bytes that it had read already come first."""
        self._pass_on(self.inlets[self.shared.inlet])
        for inlet in self.inlets:
            if inlet.pipe is not None:
                while select.select([inlet.pipe[0]], [], [], 0)[0]:
                    self._store(inlet, inlet.pipe[0], CHUNK_BYTES)

    def take(self, inlet: Inlet) -> bool:
        """Move a few chunks of what a stream holds now. Returns whether there was anything; a stream that has ended is closed."""
        try:
            moved = (
                self._from_terminal(inlet) if inlet.pipe is not None else self._store(inlet, inlet.source, CHUNK_BYTES)
            )
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno != errno.EIO:  # a terminal that no process has open any more ends with this error
                raise
            moved = 0
        if not moved:
            inlet.is_open = False
        return moved > 0

    def drain(self) -> None:
        """Move everything that the streams hold now."""
        for inlet in self.inlets:
            while inlet.is_open and select.select([inlet.source], [], [], 0)[0]:
                self.take(inlet)

    def _from_terminal(self, inlet: Inlet) -> int:
        assert inlet.pipe is not None
        read, write = inlet.pipe
        try:
            if not self._splices:
                raise OSError(errno.EINVAL, "no splice")
            count = os.splice(inlet.source, write, CHUNK_BYTES)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            count = os.write(write, os.read(inlet.source, 4096))
        left = count
        while left:
            left -= self._store(inlet, read, left)
        return count

    def _store(self, inlet: Inlet, source: int, most: int) -> int:
        """Move bytes of a pipe into the log and pass them on. Returns how many; 0 means that the pipe has ended."""
        if self.log is None or time.monotonic() < self._log_fails_until:
            return self._without_log(inlet, os.read(source, most))
        self.shared.inlet = self.inlets.index(inlet)
        data = b""
        try:
            if self._lost:
                self._tell_gap()
            count = self._spliced(source, most)
            if count is None:
                data = os.read(source, most)
                count = 0
                while count < len(data):
                    count += os.write(self.log, data[count:])
        except OSError as error:
            self._log_fails_until = time.monotonic() + RETRY_SECONDS
            if not self._why:
                with suppress(OSError):
                    print(
                        f"troubleshoot: the log cannot be written: {error.strerror}; the run goes on, and so does the log once it can",
                        file=sys.stderr,
                    )
            self._why = os.strerror(error.errno or 0)
            count = self._stored(inlet)
            return count + self._without_log(inlet, data[count:] or os.read(source, most))
        self._stored(inlet)
        return count

    def _stored(self, inlet: Inlet) -> int:
        """Pass on what was added to the log. Returns how many bytes."""
        before = self.shared.passed
        self._pass_on(inlet)
        count = self.shared.passed - before
        self.shared.output += count
        return count

    def _spliced(self, source: int, most: int) -> int | None:
        """The number of bytes moved, None if this file system has no `splice`. Raises OSError if the log cannot be written."""
        if not self._splices:
            return None
        assert self.log is not None
        try:
            return os.splice(source, self.log, most)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOSYS):
                raise
        self._splices = False  # a file system that cannot
        return None

    def _tell_gap(self) -> None:
        """Write into the log that some output is missing there. Raises OSError if the log still cannot be written."""
        assert self.log is not None
        text = f"\n[troubleshoot: {self._lost} bytes of output are missing here: {self._why}]\n".encode()
        start = os.lseek(self.log, 0, os.SEEK_CUR)
        if os.write(self.log, text) < len(text):
            os.lseek(self.log, start, os.SEEK_SET)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.shared.passed = start + len(text)
        self._lost = 0

    def _without_log(self, inlet: Inlet, data: bytes) -> int:
        self.shared.keep(data)
        self.shared.output += len(data)
        self._lost += len(data)
        self._write(inlet, data)
        return len(data)

    def _pass_on(self, inlet: Inlet) -> None:
        """Pass on what is new in the log."""
        if self.log is None:
            return
        end = os.lseek(self.log, 0, os.SEEK_CUR)
        while (place := self.shared.passed) < end:
            data = os.pread(self.log, min(CHUNK_BYTES, end - place), place)
            if not data:  # somebody cut the log
                self.shared.passed = end
                return
            self._write(inlet, data)
            self.shared.passed = place + len(data)

    def _write(self, inlet: Inlet, data: bytes) -> None:
        """Write to where the user reads. Nothing is written if nobody reads there any more."""
        view = memoryview(data)
        while len(view) and inlet.out is not None:
            try:
                view = view[os.write(inlet.out, view) :]
            except BlockingIOError:
                select.select([], [inlet.out], [])
            except OSError as error:
                if error.errno not in _GONE:
                    with suppress(OSError):
                        print(f"troubleshoot: the output is not passed on: {error.strerror}", file=sys.stderr)
                inlet.out = None
