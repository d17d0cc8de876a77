"""Start the command in a process group of its own, as a shell would."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress

_RESTORED = ("SIGPIPE", "SIGXFSZ")
"""Signals that Python ignores, but that a program started by a shell does not."""


class CannotStart(Exception):
    """The command cannot be started. ``number``: the errno."""

    def __init__(self, number: int) -> None:
        super().__init__(os.strerror(number))
        self.number = number


def start(
    command: Sequence[str], environment: Mapping[str, str], streams: Sequence[int], terminal: int | None,
    before: Mapping[int, signal.Handlers],
) -> int:  # fmt: skip
    """Start the command; its process id, which is that of its group, too.

    ``streams``: its standard input, output and error. ``terminal``: its controlling terminal, in whose foreground it is put.
    ``before``: what signals did when we were started. Raises `CannotStart`.
    """
    told, tell = os.pipe()  # closed by a successful start
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            if terminal is not None:
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                os.tcsetpgrp(terminal, os.getpgrp())
            wanted = [os.dup(stream) for stream in streams]
            for number, stream in enumerate(wanted):
                os.dup2(stream, number, inheritable=True)
            _restore_signals(before)
            os.execvpe(command[0], list(command), dict(environment))
        except OSError as error:
            with suppress(OSError):
                os.write(tell, str(error.errno or 0).encode())
        finally:
            os._exit(127)
    os.close(tell)
    with suppress(OSError):  # whoever comes first
        os.setpgid(pid, pid)
    problem = os.read(told, 16)
    os.close(told)
    if problem:
        os.waitpid(pid, 0)
        raise CannotStart(int(problem))
    return pid


def _restore_signals(before: Mapping[int, signal.Handlers]) -> None:
    for number in range(1, signal.NSIG):
        with suppress(OSError, ValueError):
            handler = before.get(number, signal.SIG_DFL)
            if signal.getsignal(number) != handler:
                signal.signal(number, handler)
    for name in _RESTORED:
        signal.signal(getattr(signal, name), before.get(getattr(signal, name), signal.SIG_DFL))
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
