"""Processes that search a large file while this one is still loading the rest of the program, and after.

Threads would have to share the interpreter with what is loaded: on two cores a thread searched 51 blocks in 100 ms meanwhile, a
process 115 in 52 (and loading took the half). The processes are forked from this one while it has a single thread; blocks to search are claimed,
by them and by this process, from one pipe; what is found comes back by a pipe each. What one of them cannot do is done here.
"""

from __future__ import annotations

import marshal
import mmap
import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from troubleshooter.read.log import ALL, BLOCK

if TYPE_CHECKING:
    from troubleshooter.read.log import FileLog
    from troubleshooter.read.standing import Standing
    from troubleshooter.read.survey import Surveyed, Worker

CLAIMS = 8192
"""Claims at most; a pipe holds them all. Of a file of more blocks each is for several."""
ROOM = 1 << 20
"""Bytes of results that may wait, where the system gives a pipe so much; a process that is further ahead waits."""
_WIDTH = 4


def possible() -> bool:
    """Whether this process can be forked safely: the system can, and no other thread is there to be cut off."""
    return hasattr(os, "fork") and len(sys._current_frames()) == 1


class Apart:
    """The search of a file, begun when this is made. `surveyed` gives its blocks in order, `close` ends it."""

    def __init__(self, log: FileLog, standing: Callable[[], Standing], processes: int) -> None:
        """``standing`` makes what is searched for, in each process. Raises OSError where no process can be made."""
        self._log = log
        self._count = -(-log.size // BLOCK)
        self._step = -(-self._count // CLAIMS)
        self._claims, giving = os.pipe()
        # The last block is left to this process: where a run failed it is dense, and what that asks for is here already (28 ms).
        self._shared = max(self._count - 1, 0)
        self._kept = list(range(self._shared, self._count))
        os.write(giving, b"".join(n.to_bytes(_WIDTH, "little") for n in range(0, self._shared, self._step)))
        os.close(giving)
        self._wanted = mmap.mmap(-1, 1)  # one byte that all these processes see
        self._wanted[0] = ALL
        self._next = 0  # the block that `surveyed` gives next
        self._mine: list[int] = []  # claimed here and not done
        self._done: dict[int, Surveyed | None] = {}  # None: nobody else did it
        self._results: dict[int, bytearray] = {}  # by pipe: what was read of it and is no whole result yet
        self._children: list[int] = []
        try:
            for _ in range(processes):
                self._fork(standing)
        except OSError:
            self.close()  # those that were made would wait for a reader for good
            raise

    def surveyed(self, standing: Standing) -> Iterator[Surveyed]:
        """The blocks in order, done; this process does its part. Raises what reading raised. Closes the search."""
        from troubleshooter.read.survey import Worker

        worker = Worker(standing)
        try:
            for number in range(self._count):
                while number not in self._done:
                    self._receive(wait=False)
                    if number not in self._done and (mine := self._claim()) is not None:
                        self._done[mine] = self._survey(mine, worker)
                    elif number not in self._done and not self._receive(wait=True):
                        self._done[number] = None
                found = self._done.pop(number)
                self._next = number + 1
                yield self._survey(number, worker) if found is None else found
        finally:
            self.close()

    def at_hand(self) -> bool:
        """Whether the next block is done already."""
        if self._next not in self._done:
            self._receive(wait=False)
        return self._done.get(self._next) is not None

    def want(self, places: int) -> None:
        """So many places are wanted of the blocks that nobody has begun (`read.log`)."""
        self._wanted[0] = places

    def close(self) -> None:
        """End the processes: who writes to a pipe that nobody reads stops."""
        if self._claims != -1:
            os.close(self._claims)
            self._claims = -1
        for pipe in self._results:
            os.close(pipe)
        self._results.clear()
        while self._children:
            with suppress(ChildProcessError):
                os.waitpid(self._children.pop(), 0)

    # --- in this process ---

    def _survey(self, number: int, worker: Worker) -> Surveyed:
        from troubleshooter.read.survey import Surveyed

        item = Surveyed(self._log.block(number))
        item.survey(worker, self._wanted[0])
        if item.fault is not None:
            raise item.fault
        return item

    def _claim(self) -> int | None:
        """The next block that nobody searches, or None when all are taken."""
        if not self._mine:
            self._mine = self._take()
        if not self._mine:
            self._mine, self._kept = self._kept, []
        return self._mine.pop(0) if self._mine else None

    def _take(self) -> list[int]:
        raw = os.read(self._claims, _WIDTH)  # as much at once is whole, whoever else reads
        if not raw:
            return []
        first = int.from_bytes(raw, "little")
        return list(range(first, min(first + self._step, self._shared)))

    def _receive(self, *, wait: bool) -> bool:
        """Take what the processes have found; whether any of them is still there."""
        from troubleshooter.read.survey import Place, Surveyed

        if not self._results:
            return False
        ready, _, _ = select.select(list(self._results), [], [], None if wait else 0)
        for pipe in ready:
            data = os.read(pipe, ROOM)
            if not data:
                os.close(pipe)
                del self._results[pipe]
                continue
            held = self._results[pipe]
            held += data
            while len(held) >= _WIDTH and len(held) >= (end := _WIDTH + int.from_bytes(held[:_WIDTH], "little")):
                number, size, line_ends, searched, places = marshal.loads(bytes(held[_WIDTH:end]))
                del held[:end]
                if size is None:
                    self._done[number] = None
                    continue
                item = Surveyed(self._log.block(number))
                item.size, item.line_ends, item.searched = size, line_ends, searched
                item.places = [Place(*place) for place in places]
                self._done[number] = item
        return True

    # --- in a process apart ---

    def _fork(self, standing: Callable[[], Standing]) -> None:
        reading, writing = os.pipe()
        with suppress(ImportError, AttributeError, OSError):
            import fcntl

            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, ROOM)
        try:
            child = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            raise
        if child:
            os.close(writing)
            self._results[reading] = bytearray()
            self._children.append(child)
            return
        try:
            for pipe in (reading, *self._results):
                os.close(pipe)
            self._work(standing, writing)
        except BaseException:  # an interrupt, a reader that is gone: the other process says what is to be said
            os._exit(1)
        os._exit(0)

    def _work(self, standing: Callable[[], Standing], writing: int) -> None:
        from troubleshooter.read.survey import Surveyed, Worker

        worker = Worker(standing())
        while numbers := self._take():
            for number in numbers:
                item = Surveyed(self._log.block(number))
                item.survey(worker, self._wanted[0])
                places = [tuple(place) for place in item.places]
                data = marshal.dumps((number, None if item.fault else item.size, item.line_ends, item.searched, places))
                data = len(data).to_bytes(_WIDTH, "little") + data
                while data:
                    data = data[os.write(writing, data) :]
