"""The keeper starts the command and copies its output until the last process that writes has ended.

It stands in a session of its own, so neither a closed terminal nor a signal to the supervisor's group reaches it. It tells
the supervisor through a socket what becomes of the command, and goes on alone where the supervisor is killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import termios
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from troubleshooter.supervise.child import CannotStart, start
from troubleshooter.supervise.pump import Pump

if TYPE_CHECKING:
    from _socket import socket

_IGNORED = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGTTOU", "SIGTTIN", "SIGTSTP", "SIGPIPE")
ENDED = "ended.json"
"""The file in which a keeper without a supervisor writes how the command ended."""


def socket_pair() -> tuple[socket, socket]:
    """Two ends of a connection, without the module `socket`, whose import takes milliseconds of each start."""
    try:
        from _socket import socketpair
    except ImportError:
        from socket import socketpair
    return socketpair()


class Keeper:
    """``streams``: the command's ends of its standard streams. ``terminal``: its controlling terminal, one of them."""

    def __init__(
        self, pump: Pump, talk: socket, command: Sequence[str], environment: Mapping[str, str],
        streams: Sequence[int], terminal: int | None, before: Mapping[int, signal.Handlers], *, folder: int | None,
        outer: tuple[int, list[Any]] | None,
    ) -> None:  # fmt: skip
        self.pump = pump
        self.talk = talk
        self.command = command
        self.environment = environment
        self.streams = streams
        self.terminal = terminal
        self.before = before
        self.folder = folder
        self.outer = outer
        """The user's terminal and its settings, which the keeper restores if the supervisor cannot."""
        self.pid = 0
        self.alone = False
        self.status: int | None = None

    def live(self) -> None:
        """Run the keeper in its own process. Does not return."""
        status = 1
        try:
            self._live()
            status = 0
        finally:
            os._exit(status)

    def _live(self) -> None:
        os.setsid()
        for name in _IGNORED:
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        if self.terminal is not None:
            fcntl.ioctl(self.terminal, termios.TIOCSCTTY, 0)
        try:
            self.pid = start(self.command, self.environment, self.streams, self.terminal, self.before)
        except CannotStart as error:
            self._tell(error=error.number)
            return
        self._let_go()
        self._tell(pid=self.pid)
        with suppress(OSError):
            os.chdir("/")
        while self.status is None or any(inlet.is_open for inlet in self.pump.inlets):
            self._turn(woken)

    def _let_go(self) -> None:
        """Close what only the command needs. A pipe ends only when its last writer has closed it."""
        held = {inlet.held for inlet in self.pump.inlets}
        outs = {inlet.out for inlet in self.pump.inlets}
        for stream in set(self.streams) - held - {1, 2}:
            os.close(stream)
        for number in {1, 2} - outs:
            with suppress(OSError):
                os.close(number)

    def _turn(self, woken: int) -> None:
        """Wait for the next event and handle it."""
        poll = select.poll()
        inlets = {inlet.source: inlet for inlet in self.pump.inlets if inlet.is_open}
        for source in inlets:
            poll.register(source, select.POLLIN)
        poll.register(woken, select.POLLIN)
        if not self.alone:
            poll.register(self.talk, select.POLLIN)
        for descriptor, _ in poll.poll():
            if descriptor in inlets:
                self.pump.take(inlets[descriptor])
            elif descriptor == woken:
                with suppress(BlockingIOError):
                    os.read(woken, 512)
                self._wait()
            elif not self._hear():
                self._stay_alone()

    def _wait(self) -> None:
        """Find out whether the command stopped or ended."""
        if self.status is not None:
            return
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if os.WIFSTOPPED(status):
            self._tell(stopped=os.WSTOPSIG(status))
        elif os.WIFCONTINUED(status):
            self._tell(continued=True)
        else:
            for inlet in self.pump.inlets:
                if inlet.held is not None:
                    with suppress(OSError):  # its remaining children must get no SIGHUP when we leave the terminal
                        os.tcsetpgrp(inlet.held, os.getpgrp())
                    os.close(inlet.held)
                    inlet.held = None
            self.pump.drain()
            self.status = status
            self._tell(ended=status, open=any(inlet.is_open for inlet in self.pump.inlets))
            if self.alone:
                self._note()
            return
        self._wait()  # a stop and an end may come as one signal

    def _tell(self, **said: object) -> None:
        if not self.alone:
            try:
                self.talk.sendall(json.dumps(said).encode() + b"\n")
            except OSError:
                self._stay_alone()

    def _hear(self) -> bool:
        """Whether the supervisor is still alive. It sends no other message."""
        try:
            return bool(self.talk.recv(64))
        except OSError:
            return False

    def _stay_alone(self) -> None:
        """Go on without a supervisor: restore the user's terminal and keep writing the log."""
        self.alone = True
        if self.outer is not None and self.status is None:
            with suppress(termios.error, OSError):
                termios.tcsetattr(self.outer[0], termios.TCSANOW, self.outer[1])

    def _note(self) -> None:
        """Write down how the command ended, because no supervisor does."""
        if self.folder is None or self.status is None:
            return
        with suppress(OSError):
            out = os.open(ENDED, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666, dir_fd=self.folder)
            os.write(out, json.dumps({"status": os.waitstatus_to_exitcode(self.status)}).encode() + b"\n")
            os.close(out)
