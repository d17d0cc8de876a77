"""A function applied in several forked processes. None of them is needed: what one leaves undone is done in the calling process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection, current_process
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def can_fork() -> bool:
    """Whether this process may fork: the system can, no other thread runs, and it may have children (a daemon may not)."""
    return (
        hasattr(os, "fork")
        and sys.platform != "darwin"
        and threading.active_count() == 1
        and not current_process().daemon
    )


def mapped(function: Callable[[Item], Result], items: Sequence[Item], processes: int) -> Iterator[Result]:
    """``function`` of each item, in their order, computed in so many processes where `can_fork`.

    Results are pickled. Each process sends its results through a pipe that it alone writes to, so the end of a process is the
    end of its pipe: nothing waits for a process that died. A process that raises, dies, or cannot be started costs time alone:
    the calling process computes what is missing, and there an error is raised.
    """
    workers = _started(function, items, min(processes, len(items))) if can_fork() else []
    found: dict[int, Result] = {}
    try:
        for number, item in enumerate(items):
            while number not in found and any(number in worker.due for worker in workers):
                ready = connection.wait([worker.results for worker in workers if worker.due])
                for worker in workers:
                    if worker.results in ready:
                        worker.receive(found)
            yield found.pop(number) if number in found else function(item)
    finally:
        for worker in workers:
            worker.end()


class _Worker(Generic[Result]):
    """A forked process, and the numbers of the items whose results are still ``due``."""

    def __init__(self, pid: int, results: connection.Connection, due: Sequence[int]) -> None:
        self.pid = pid
        self.results = results
        self.due = list(due)

    def receive(self, found: dict[int, Result]) -> None:
        """Take the next result. After the last one, or if the process has ended, nothing is due any more."""
        try:
            found[self.due[0]] = self.results.recv()
            del self.due[0]
        except Exception:  # the end of the pipe, or half a result: an object that cannot be read has no single error
            self.due.clear()

    def end(self) -> None:
        """End the process. One that still computes is killed: it has nothing to lose."""
        self.results.close()
        if self.due:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _started(function: Callable[[Item], Result], items: Sequence[Item], count: int) -> list[_Worker[Result]]:
    """So many processes, or fewer if the system gives no more."""
    workers: list[_Worker[Result]] = []
    for first in range(count):
        mine = range(first, len(items), count)
        try:
            read, write = os.pipe()
        except OSError:
            break
        try:
            pid = os.fork()
        except OSError:
            os.close(read)
            os.close(write)
            break
        if pid == 0:
            _work(function, items, mine, write)
        os.close(write)  # before the next process starts: it would keep this pipe open
        workers.append(_Worker(pid, connection.Connection(read, writable=False), mine))
    return workers


def _work(function: Callable[[Item], Result], items: Sequence[Item], mine: Sequence[int], write: int) -> None:
    """Compute and send; never returns. Nothing of the caller's (handlers, buffers, ``atexit``) runs in this process."""
    try:
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(name) != signal.SIG_IGN:
                signal.signal(name, signal.SIG_DFL)
        results = connection.Connection(write, readable=False)
        for number in mine:
            results.send(function(items[number]))
    finally:
        os._exit(0)  # an error is raised again by the calling process, which computes what is missing
