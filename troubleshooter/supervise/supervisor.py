"""The supervisor is the process that the user's shell started. It passes on keys and signals, and learns how the command ended."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from troubleshooter.supervise.folder import RunFolder
from troubleshooter.supervise.keeper import Keeper, socket_pair
from troubleshooter.supervise.pump import Inlet, Pump
from troubleshooter.supervise.shared import Shared

if TYPE_CHECKING:
    from troubleshooter.supervise.window import Window

TICK_SECONDS = 1.0
TO_GROUP = ("SIGINT", "SIGQUIT")
"""Signals that are passed on to the command's whole group, as a terminal does."""
TO_COMMAND = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
"""Signals that are passed on to the command alone, as `kill` and schedulers do, because workers may not handle them."""
ENDING = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT")
_OWN = ("SIGCONT", "SIGTSTP", "SIGWINCH", "SIGCHLD")
_STOPS = tuple(getattr(signal, name) for name in ("SIGTSTP", "SIGTTIN", "SIGTTOU") if hasattr(signal, name))


class RunEnd(NamedTuple):
    """How a command ended. ``status``: its exit status, negative for a signal, None if no process saw it.

    ``signal``: the signal that we were sent to end it, and ``silent_s`` how long it had printed nothing then. ``goes_on``:
    whether processes of it still hold its output. ``error``: the number of the error by which it could not be started.
    """

    status: int | None
    signal: str | None = None
    silent_s: float | None = None
    goes_on: bool = False
    error: int = 0


class Supervisor:
    """Runs a command once. ``tick`` is called about every `TICK_SECONDS` while it runs; it must not wait for anything."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: RunFolder, tick: Callable[[Supervisor], None],
    ) -> None:  # fmt: skip
        self.command = command
        self.environment = environment
        self.folder = folder
        self.tick = tick
        self.shared = Shared()
        self.pid = 0
        self.asked: Callable[[str], None] | None = None
        """After a question, this function gets the next key."""
        self.signal: str | None = None
        self.last_output = time.monotonic()
        self._silent: float | None = None
        self._seen_output = 0
        self._ended: RunEnd | None = None
        self._pump: Pump | None = None  # ours once the keeper was killed
        self._pidfd: int | None = None
        self._before = {
            number: signal.SIG_IGN
            for number in range(1, signal.NSIG)
            if number not in (signal.SIGPIPE, getattr(signal, "SIGXFSZ", 0)) and _handler(number) == signal.SIG_IGN
        }

    def run(self) -> RunEnd:
        """Start the command and wait until it ends."""
        terminals = [os.isatty(number) for number in range(3)]
        self.window: Window | None = None
        if any(terminals):
            from troubleshooter.supervise.window import Window

            self.window = Window(terminals.index(True), keys=terminals[0])
        inlets, streams = self._streams(terminals)
        self.inlets = inlets
        pump = Pump(inlets, self.folder.log, self.shared)
        self.talk, theirs = socket_pair()
        self._woken, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(self._woken, False)
        keeper = Keeper(
            pump, theirs, self.command, self.environment, streams, self.window.slave if self.window else None, self._before,
            folder=None if self.folder.path is None else os.open(self.folder.path, os.O_RDONLY),
            outer=(self.window.outer, self.window.settings) if self.window else None,
        )  # fmt: skip
        self._keeper = os.fork()
        if self._keeper == 0:
            self.talk.close()
            keeper.live()
        theirs.close()
        self._pump_later = pump
        restore = self._handle_signals(wake)
        for stream in set(streams) - {1, 2}:
            os.close(stream)
        if 0 in streams:  # a program that writes to our input must see when the command closes it
            os.open(os.devnull, os.O_RDONLY)
        if self.window is not None:
            self.window.take()
        try:
            while self._ended is None:
                self._turn()
        finally:
            if self.window is not None:
                self.window.give_back()
            restore()
        self._end_group()
        return self._ended

    def tell(self, text: str) -> None:
        """Print a message to the user on a line of its own."""
        end = self.window.line_end if self.window is not None else "\n"
        start = end if self.window is not None else ""
        with suppress(OSError):
            os.write(2, f"{start}troubleshoot: {text}{end}".encode(errors="replace"))

    def send(self, number: int, *, group: bool) -> None:
        """Send a signal to the command, or to all of its group."""
        if self.pid and self._ended is None:
            with suppress(ProcessLookupError, PermissionError):
                (os.killpg if group else os.kill)(self.pid, number)

    def _streams(self, terminals: Sequence[bool]) -> tuple[list[Inlet], list[int]]:
        """The streams that are read from the command, and the command's three standard streams."""
        inlets: list[Inlet] = []
        streams = [0, 1, 2]
        if self.window is not None:
            out = next((number for number in (1, 2, 0) if terminals[number]), 0)
            inlet = Inlet(self.window.master, out, terminal=True)
            inlet.held = self.window.slave
            inlets.append(inlet)
            streams = [self.window.slave if terminal else number for number, terminal in enumerate(terminals)]
        if not terminals[1] and not terminals[2] and _same(1, 2):
            read, write = os.pipe()
            inlets.append(Inlet(read, 1, terminal=False))
            return inlets, [streams[0], write, write]
        for number in (1, 2):
            if not terminals[number]:
                read, write = os.pipe()
                inlets.append(Inlet(read, number, terminal=False))
                streams[number] = write
        return inlets, streams

    def _handle_signals(self, wake: int) -> Callable[[], None]:
        before: dict[int, Any] = {}
        for name in (*TO_GROUP, *TO_COMMAND, *_OWN):
            number = getattr(signal, name)
            if number not in self._before:
                before[number] = signal.signal(number, lambda number, frame: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

        def restore() -> None:
            signal.set_wakeup_fd(-1)
            for number, handler in before.items():
                signal.signal(number, handler)

        return restore

    def _turn(self) -> None:
        """Wait for the next event, at most until the next tick, and handle it."""
        poll = select.poll()
        keys = self.window is not None and self.window.has_keys and self.window.is_ours()
        poll.register(self._woken, select.POLLIN)
        if self._pump is None:
            poll.register(self.talk, select.POLLIN)
        else:
            for inlet in self._pump.inlets:
                if inlet.is_open:
                    poll.register(inlet.source, select.POLLIN)
            if self._pidfd is not None:
                poll.register(self._pidfd, select.POLLIN)
        if keys and self.window is not None:
            poll.register(self.window.outer, select.POLLIN)
        ready = {descriptor for descriptor, _ in poll.poll(TICK_SECONDS * 1000)}
        if self._woken in ready:
            self._signalled()
        if self._pump is None and self.talk.fileno() in ready:
            self._heard()
        elif self._pump is not None:
            self._pumped(ready)
        if keys and self.window is not None and self.window.outer in ready:
            self._pressed()
        if self.shared.output != self._seen_output:
            self._seen_output = self.shared.output
            self.last_output = time.monotonic()
        if self._ended is None and self.pid:
            self.tick(self)

    def _signalled(self) -> None:
        with suppress(BlockingIOError):
            for number in os.read(self._woken, 512):
                name = signal.Signals(number).name
                if name in ENDING and self.signal is None:
                    self.signal = name
                    self._silent = time.monotonic() - self.last_output
                if name in TO_GROUP or name in TO_COMMAND:
                    self.send(number, group=name in TO_GROUP)
                elif name == "SIGTSTP":
                    self.send(number, group=True)
                elif name == "SIGWINCH" and self.window is not None:
                    self.window.resize()
                elif name == "SIGCONT":
                    self._continue()

    def _heard(self) -> None:
        """Read messages of the keeper."""
        try:
            said = self.talk.recv(1 << 16)
        except OSError:
            said = b""
        if not said:
            self._take_over()
            return
        for line in said.splitlines():
            self._told(json.loads(line))

    def _told(self, said: dict[str, int]) -> None:
        if "pid" in said:
            self.pid = said["pid"]
        elif "error" in said:
            self._ended = RunEnd(None, error=said["error"])
        elif said.get("stopped") in _STOPS:
            self._stop()
        elif "ended" in said:
            status = os.waitstatus_to_exitcode(said["ended"])
            self._ended = RunEnd(status, self.signal, self._silent, bool(said["open"]))

    def _stop(self) -> None:
        """Stop as the command was stopped, so that the user's shell takes over; go on when it says so."""
        if self.window is not None:
            self.window.give_back()
        before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.killpg(os.getpgrp(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, before)
        if not select.select([self._woken], [], [], 0)[0]:  # no SIGCONT came: no shell is there that could stop us
            self._continue()

    def _continue(self) -> None:
        if self.window is not None:
            self.window.resize()
            self.window.take()
        self.send(signal.SIGCONT, group=True)

    def _pressed(self) -> None:
        assert self.window is not None
        keys = self.window.keys()
        if keys is None:
            self.window.has_keys = False  # the signal says what to do
        elif self.asked is not None:
            answer, self.asked = self.asked, None
            answer(keys[:1].decode(errors="replace"))
        else:
            self.window.press(keys)

    def _take_over(self) -> None:
        """Move the output in this process, because the keeper was killed."""
        with suppress(ChildProcessError):
            os.waitpid(self._keeper, 0)
        if not self.pid:
            self._ended = RunEnd(None)
            return
        self._pump = self._pump_later
        self._pump.go_on()
        with suppress(OSError, AttributeError):
            self._pidfd = os.pidfd_open(self.pid)

    def _pumped(self, ready: set[int]) -> None:
        assert self._pump is not None
        for inlet in self._pump.inlets:
            if inlet.is_open and inlet.source in ready:
                self._pump.take(inlet)
        gone = self._pidfd is None or self._pidfd in ready
        if gone and not _is_alive(self.pid):
            self._pump.drain()
            self._ended = RunEnd(None, self.signal, self._silent)

    def _end_group(self) -> None:
        """Pass the signal that ended the command on to the remaining processes of its group."""
        if self._ended is not None and self._ended.signal in ("SIGTERM", "SIGHUP") and self.pid:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, getattr(signal, self._ended.signal))


def _handler(number: int) -> object:
    try:
        return signal.getsignal(number)
    except ValueError:
        return None


def _same(one: int, other: int) -> bool:
    """Whether two descriptors are open on the same file, pipe or terminal."""
    try:
        first, second = os.fstat(one), os.fstat(other)
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
