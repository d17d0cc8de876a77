"""The blocks of a large log, each searched for what stands out, by several threads at once.

The search runs in C and lets other threads go on meanwhile, so the thread that reads the log and a few helpers share
the work. Blocks come back in their order, and what is found in one depends on nothing but its bytes: the result is the
same with any number of threads.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from troubleshooter.read.blocks import Block
from troubleshooter.read.scanner import Scanner, Surveyor

AHEAD = 6
"""Blocks that are begun before the oldest of them must be done."""
_HANDOVER = 0.0005
"""Seconds after which a busy thread lets another one run Python; the searches need it for a moment each."""


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Surveyed:
    """A block, and once it is done the offsets in it just after what stands out."""

    __slots__ = ("_claim", "_done", "block", "fault", "places")

    def __init__(self, block: Block) -> None:
        self.block = block
        self.places: list[int] = []
        self.fault: BaseException | None = None
        self._claim = threading.Lock()
        self._done = threading.Event()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def survey(self, surveyor: Surveyor) -> bool:
        """Do the work unless another thread does it already; whether it was done here."""
        if not self._claim.acquire(blocking=False):
            return False
        try:
            self.block.fill()
            self.places = surveyor.places(self.block.data)
        except BaseException as fault:  # told to the thread that waits for the block
            self.fault = fault
        finally:
            self._done.set()
        return True

    def wait(self) -> None:
        self._done.wait()


def surveyed(blocks: Iterable[Block], scanner: Scanner, helpers: int) -> Iterator[Surveyed]:
    """The blocks in order, done. They are taken by the calling thread alone: a pipe that waits may be interrupted there.

    Raises what reading a block raised.
    """
    own = scanner.surveyor()
    held: deque[Surveyed] = deque()
    with _helped(scanner, helpers) as offer:
        for block in blocks:
            held.append(Surveyed(block))
            offer(held[-1])
            if len(held) > AHEAD:
                yield _finished(held, own)
        while held:
            yield _finished(held, own)


def _finished(held: deque[Surveyed], own: Surveyor) -> Surveyed:
    """The oldest block, done; while a helper is at it, this thread does later ones."""
    oldest = held[0]
    while not oldest.done:
        if not any(item.survey(own) for item in held if not item.done):
            oldest.wait()
    held.popleft()
    if oldest.fault is not None:
        raise oldest.fault
    return oldest


@contextmanager
def _helped(scanner: Scanner, helpers: int) -> Iterator[Callable[[Surveyed], None]]:
    """What offers a block to helper threads, which end with it."""
    offered: queue.SimpleQueue[Surveyed | None] = queue.SimpleQueue()
    threads = [
        threading.Thread(target=_help, args=(scanner.surveyor(), offered), name=f"survey-{n}", daemon=True)
        for n in range(helpers)
    ]
    before = sys.getswitchinterval()
    for thread in threads:
        thread.start()
    try:
        if threads:
            sys.setswitchinterval(_HANDOVER)
        yield offered.put if threads else lambda item: None
    finally:
        sys.setswitchinterval(before)
        for _ in threads:
            offered.put(None)


def _help(surveyor: Surveyor, offered: queue.SimpleQueue[Surveyed | None]) -> None:
    while (item := offered.get()) is not None:
        item.survey(surveyor)
