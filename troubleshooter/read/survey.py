"""The blocks of a large log, each searched for what stands out, by several threads at once.

The search runs in C and lets other threads go on meanwhile, so the thread that reads the log and a few helpers share
the work. Blocks come back in their order, and what is found in one depends on nothing but its bytes: the result is the
same with any number of threads.
"""

from __future__ import annotations

import queue
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import stringzilla

from troubleshooter.read.log import ALL, BLOCK, NONE, Block, Log
from troubleshooter.read.standing import Standing
from troubleshooter.read.surveyor import Surveyor
from troubleshooter.read.text import CHUNK, LINE_LIMIT

BEFORE, AFTER = 120, 80
_ONE_A_LINE = bytes(byte == ord("\n") for byte in range(256))
_LOOKS_UP = not {"ice", "neon", "sve"}.isdisjoint(stringzilla.__capabilities__)
"""Whether the processor looks up 64 bytes in a table at once. Then a sum of ones is the fastest way to count (34 µs a MiB); where
it does not, that takes 354, and going from one line end to the next 115 to 220 (lines of 150 and 75 bytes; ARM was not measured)."""
_HANDOVER = 0.0005
"""Seconds after which a busy thread lets another one run Python; the searches need it for a moment each."""


class Worker:
    """What one thread needs for the search."""

    def __init__(self, standing: Standing) -> None:
        self.surveyor = Surveyor(standing)
        self.buffer = bytearray(BLOCK)


class Place(NamedTuple):
    """Where something stands out: offsets in the log of the line's start and of the end of what was found, and the
    line's text there, of at most `BEFORE` and `AFTER` bytes around that end."""

    start: int
    end: int
    text: bytes


class Surveyed:
    """A block, and what is known once it is done: its size, the line ends of each `CHUNK` of it, whether places were looked
    for, and these."""

    __slots__ = ("_claim", "_done", "block", "fault", "line_ends", "places", "searched", "size")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.size = 0
        self.line_ends: list[int] = []
        self.places: list[Place] = []
        self.searched = False
        self.fault: BaseException | None = None
        self._claim = threading.Lock()
        self._done = threading.Event()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def survey(self, worker: Worker, wanted: int = ALL) -> bool:
        """Do the work unless another thread does it already; whether it was done here."""
        if not self._claim.acquire(blocking=False):
            return False
        try:
            data = self.block.load(worker.buffer)
            self.size = len(data)
            with memoryview(data) as view:
                self.line_ends = [line_ends(view[i : i + CHUNK]) for i in range(0, self.size, CHUNK)]
                if wanted == ALL or (wanted != NONE and worker.surveyor.may_raise(data)):
                    self._search(worker, data, view)
        except BaseException as fault:  # told to the thread that waits for the block
            self.fault = fault
        finally:
            self._done.set()
        return True

    def search(self, worker: Worker) -> None:
        """Look for the places after all. Raises OSError where the block cannot be read again."""
        data = self.block.load(worker.buffer)
        with memoryview(data) as view:
            self._search(worker, data, view)

    def _search(self, worker: Worker, data: bytearray, view: memoryview) -> None:
        self.places = [_place(data, view, self.block.offset, end) for end in worker.surveyor.ends(data)]
        self.searched = True

    def wait(self) -> None:
        self._done.wait()


def _place(data: bytearray, view: memoryview, offset: int, end: int) -> Place:
    start = data.rfind(b"\n", max(0, end - LINE_LIMIT), end - 1) + 1
    stop = data.find(b"\n", end, end + AFTER)
    low = start if start > end - BEFORE else end - BEFORE
    return Place(offset + start, offset + end, bytes(view[low : end + AFTER if stop == -1 else stop]))


def line_ends(part: bytes | memoryview) -> int:
    """How many line ends there are. `bytes.count` looks at byte after byte up to Python 3.12 (314 to 600 µs a MiB)."""
    if _LOOKS_UP:
        return int(stringzilla.bytesum(stringzilla.translate(part, _ONE_A_LINE)))
    return int(stringzilla.count(part, b"\n"))


class _Handovers:
    """The interpreter's switch interval, which all threads share: short while any search has helpers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches = 0
        self._before = 0.0

    def begin(self) -> None:
        with self._lock:
            self._searches += 1
            if self._searches == 1:
                self._before = sys.getswitchinterval()
                sys.setswitchinterval(_HANDOVER)

    def end(self) -> None:
        with self._lock:
            self._searches -= 1
            if not self._searches:
                sys.setswitchinterval(self._before)


_handovers = _Handovers()


class Search:
    """The search of a log, which helper threads share with the thread that takes the blocks; `close` ends them.

    Blocks are taken from the log by the calling thread alone: a pipe that waits may be interrupted there.
    """

    def __init__(self, log: Log, standing: Standing, helpers: int, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self._most = log.ahead
        self._standing = standing
        self._held: deque[Surveyed] = deque()
        self._own: Worker | None = None
        self._wanted = ALL
        self._offered: queue.SimpleQueue[Surveyed | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._help, name=f"survey-{n}", daemon=True) for n in range(max(helpers, 0))
        ]
        if self._threads:
            _handovers.begin()
        for thread in self._threads:
            thread.start()

    def surveyed(self) -> Iterator[Surveyed]:
        """The blocks in order, done. Raises what reading raised. Closes the search."""
        try:
            while self._take():
                if len(self._held) > self._most:
                    yield self._finished()
            while self._held:
                yield self._finished()
        finally:
            self.close()

    def at_hand(self) -> bool:
        """Never: of a stream only the last blocks are kept, so each is read before the next one is asked for."""
        return False

    def want(self, places: int) -> None:
        """So many places are wanted of the blocks that nobody has begun."""
        self._wanted = places

    def close(self) -> None:
        """End the helpers. Nobody wants what is still offered; and the file is closed next, so nobody may be reading it."""
        threads, self._threads = self._threads, []
        with suppress(queue.Empty):
            while True:
                self._offered.get_nowait()
        for _ in threads:
            self._offered.put(None)
        for thread in threads:
            thread.join()
        if threads:
            _handovers.end()

    def _take(self) -> bool:
        """Hold the next block of the log and offer it; whether there is one."""
        if (block := next(self._blocks, None)) is None:
            return False
        self._held.append(Surveyed(block))
        if self._threads:
            self._offered.put(self._held[-1])
        return True

    def _finished(self) -> Surveyed:
        """The oldest block, done; while a helper is at it, this thread does later ones."""
        own = self._own = self._own or Worker(self._standing)
        oldest = self._held[0]
        while not oldest.done:
            if not any(item.survey(own, self._wanted) for item in self._held if not item.done):
                oldest.wait()
        self._held.popleft()
        if oldest.fault is not None:
            raise oldest.fault
        return oldest

    def _help(self) -> None:
        worker = Worker(self._standing)
        while (item := self._offered.get()) is not None:
            item.survey(worker, self._wanted)
