"""The excerpts of a large log that are read line by line: its start, its end, samples, and the lines around a failure.

Of each kind of line, told by its text without digits, only the first few are taken. So a log of 10 GB that repeats one
warning costs little more than its bytes, and the first occurrence of everything is seen where it stands. The excerpts
depend on the log's bytes alone, not on the chunks in which they arrive.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from threading import local
from typing import TYPE_CHECKING

from kb import lazy
from troubleshooter.masking import without_digits_raw
from troubleshooter.read.large.block_scanner import (
    AFTER_BYTES,
    BEFORE_BYTES,
    BlockScanner,
    ScannedBlock,
    count_line_ends,
)
from troubleshooter.read.large.blocks import BLOCK_BYTES, Block, Blocks
from troubleshooter.read.large.prefilter import Prefilter
from troubleshooter.read.text import CHUNK, LINE_LIMIT

if TYPE_CHECKING:
    from concurrent.futures import Future

HEAD_BYTES, TAIL_BYTES = 64 * 1024, 32 * 1024
"""The start and the end of a log are read whole: they show how the run was set up, and its last failure, which usually
is the cause."""
MAX_SAME_KIND = 3
"""At most this many lines of one kind are read."""
MAX_EXCERPTS = 400
"""At most this many exceptions of all kinds are read, and as many other lines."""
OTHER_BYTES, EXCEPTION_BYTES, TRACEBACK_BYTES = 150, 400, 16 * 1024
"""So many bytes are read after a line that is worth reading, after an exception's line, and after a traceback's header.
"""
SAMPLE_EVERY_BYTES, SAMPLES, SAMPLE_BYTES = 128 * 1024, 64, 100
"""A sample of `SAMPLE_BYTES` is taken every `SAMPLE_EVERY_BYTES`; after each `SAMPLES` samples, half as often."""
SEARCH_THREADS, BLOCKS_AHEAD = 2, 4
"""This many threads search blocks while Python reads lines, and they may be this many blocks ahead."""
BLOCKS_ALONE = 2
"""So many blocks at the start are searched without threads: a log of 1 MB has no more, and importing the thread pool takes
longer than searching them."""

_NEAR_BYTES, _FAR_BYTES = 1024, LINE_LIMIT + 16
"""The line ends around an excerpt are searched for within this many bytes: first near it, then as far away as a line may
reach."""
_HEADER = b"raceback (most"
_EXCEPTION_WORD = lazy.compile(rb"Error|Exception|Interrupt|terminate called|FATAL|panicked")
_EXCEPTION = lazy.compile(rb"\w(?:Error|Exception|Interrupt)(?::\s|\s*$)|terminate called|\b(?:FATAL|panicked)\b")

Chunk = tuple[int, bytes]
"""Raw lines that follow each other: the number of the first one, and their bytes without the last line end."""
ByteRange = tuple[int, int]
"""Offsets in the log: of the first byte, and after the last one."""


class Excerpts:
    """Reads one log. ``bytes`` is the size of the log once `chunks` is exhausted."""

    def __init__(self, chunks: Iterable[bytes], prefilter: Prefilter, threads: int = SEARCH_THREADS) -> None:
        self._blocks = Blocks(chunks, kept=BLOCKS_AHEAD + 4)
        self._prefilter = prefilter
        self._threads = threads
        self.bytes = 0
        self._line_ends = array("Q", [0])  # before each `CHUNK` of the log
        self._last_line = 0, 1  # an offset, and the number of its line
        self._done = 0  # bytes before this offset were given out or are passed over for good
        self._within_line = False  # this offset lies within a line of which the start was given out
        self._seen: dict[bytes, int] = {}  # lines of each kind
        self._header = -TRACEBACK_BYTES - 1  # offset of the last traceback's header
        self._left = {True: MAX_EXCERPTS, False: MAX_EXCERPTS}  # exceptions, other lines

    def chunks(self) -> Iterator[Chunk]:
        """Every excerpt, in the order of the log."""
        held: deque[ScannedBlock] = (
            deque()
        )  # a block is chosen from when the next one is full: the log's tail begins behind it
        for scanned in self._scanned():
            held.append(scanned)
            self.bytes += len(scanned.block.data)
            for count in scanned.line_ends:
                self._line_ends.append(self._line_ends[-1] + count)
            if len(held) > 1 and len(scanned.block.data) == BLOCK_BYTES:
                yield from self._cut_out(self._ranges(held.popleft()), at_end=False)
        while held:
            scanned = held.popleft()
            start, stop = scanned.block.offset, scanned.block.offset + len(scanned.block.data)
            tail = [(max(start, self.bytes - TAIL_BYTES), stop)] if stop > self.bytes - TAIL_BYTES else []
            yield from self._cut_out(self._ranges(scanned) + tail, at_end=not held)

    def _scanned(self) -> Iterator[ScannedBlock]:
        """The blocks in their order, each scanned."""
        blocks = iter(self._blocks)
        scan = BlockScanner(self._prefilter).scan
        yield from map(scan, islice(blocks, BLOCKS_ALONE) if self._threads else blocks)
        for block in blocks:
            yield from self._scanned_by_threads(chain([block], blocks))

    def _scanned_by_threads(self, blocks: Iterable[Block]) -> Iterator[ScannedBlock]:
        from concurrent.futures import ThreadPoolExecutor  # slow to import, because it imports `logging`

        own = local()

        def prepare() -> None:
            own.scanner = BlockScanner(self._prefilter)

        def scan(block: Block) -> ScannedBlock:
            scanner: BlockScanner = own.scanner
            return scanner.scan(block)

        with ThreadPoolExecutor(self._threads, "excerpts", prepare) as pool:
            under_way: deque[Future[ScannedBlock]] = deque()
            for block in blocks:
                under_way.append(pool.submit(scan, block))
                if len(under_way) > BLOCKS_AHEAD:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()

    # --- where to look ---

    def _ranges(self, scanned: ScannedBlock) -> list[ByteRange]:
        """The ranges of a block, and of the bytes around it, that are worth reading."""
        offset, stop = scanned.block.offset, scanned.block.offset + len(scanned.block.data)
        ranges: list[ByteRange] = [(0, HEAD_BYTES)] if offset == 0 else []
        for at in range(offset, stop, SAMPLE_EVERY_BYTES) if any(scanned.line_ends) else ():
            index = at // SAMPLE_EVERY_BYTES
            if index % (1 << (index // SAMPLES).bit_length()) == 0:
                ranges.append((at, at + SAMPLE_BYTES))
        if not any(self._left.values()):
            return ranges
        taken = -1  # the start of the line that was taken last
        for start, end, text in scanned.hits:
            if start == taken:
                continue
            if (
                start == offset and end < offset + BEFORE_BYTES
            ) or end + AFTER_BYTES > stop:  # the line may reach further
                around = self._blocks.take(end - BEFORE_BYTES, end + AFTER_BYTES)
                within = min(end, BEFORE_BYTES)
                text = around[:within].rpartition(b"\n")[2] + around[within:].partition(b"\n")[0]
            if _HEADER in text:
                self._header = start
            in_traceback = start - self._header <= TRACEBACK_BYTES
            exception = in_traceback or _names_an_exception(text)
            if not self._left[exception] or not self._is_new(text):
                continue
            self._left[exception] -= 1
            taken = start
            if start == self._header:
                ranges.append((start, end + TRACEBACK_BYTES))
            else:
                low = self._header if in_traceback else start
                ranges.append((low, end + (EXCEPTION_BYTES if exception else OTHER_BYTES)))
        return ranges

    def _is_new(self, text: bytes) -> bool:
        """Whether only a few lines of this kind were taken so far. If so, this one is counted."""
        kind = without_digits_raw(text)
        count = self._seen.get(kind, 0)
        if count < MAX_SAME_KIND:
            self._seen[kind] = count + 1
        return count < MAX_SAME_KIND

    # --- cutting it out ---

    def _cut_out(self, ranges: list[ByteRange], *, at_end: bool) -> Iterator[Chunk]:
        """The whole lines that the ranges touch and that were not given out. ``at_end``: no block follows."""
        for low, high in _merged(ranges):
            for margin in (_NEAR_BYTES, _FAR_BYTES):
                base = max(low - margin, 0)
                data = self._blocks.take(base, high + margin)
                start = self._line_start(data, base, low, far=margin == _FAR_BYTES)
                stop = data.find(b"\n", max(high - base, 1) - 1)
                if start is not None and stop != -1:
                    break
            high = min(high - base, len(data))
            if start is None or start >= high:
                continue
            last = at_end and stop == -1
            stop = len(data) if stop == -1 else stop
            yield self._line_number(base + start), data[start : min(stop, high + LINE_LIMIT)]
            self._within_line = stop == len(data) and not last
            self._done = base + stop + (0 if self._within_line else 1)

    def _line_start(self, data: bytes, base: int, low: int, *, far: bool) -> int | None:
        """Where in ``data`` the line begins that holds the offset ``low``. If its start was given out or is too ``far``
        away: where the next line begins. None where a look further back may find it."""
        low -= base
        done = self._done - base
        if low > done:
            line_end = data.rfind(b"\n", max(done, 0), low)
            if line_end != -1:
                return line_end + 1
        if done >= 0 and not self._within_line:
            return done
        if done < 0 and not far:
            return None
        line_end = data.find(b"\n", max(low, done, 0))
        return line_end + 1 if line_end != -1 else None

    def _line_number(self, offset: int) -> int:
        """The number of the line at an offset: counted from the offset that was asked for last, if that is near."""
        start = offset - offset % CHUNK
        number = 1 + self._line_ends[offset // CHUNK]
        if start <= self._last_line[0] <= offset:
            start, number = self._last_line
        self._last_line = offset, number + count_line_ends(self._blocks.take(start, offset))
        return self._last_line[1]


def _names_an_exception(text: bytes) -> bool:
    """True if the text names an exception, or another end of a process. Plain words are searched for first, which is faster."""
    return _EXCEPTION_WORD.search(text) is not None and _EXCEPTION.search(text) is not None


def _merged(ranges: list[ByteRange]) -> list[ByteRange]:
    """The ranges in order, with overlapping ones joined."""
    out: list[ByteRange] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out
