"""The parts of a log that are looked at line by line: all of a small one; of a large one its start, its end, and a
window around everything that stands out.

A log is read once, in blocks of fixed size (so that the way its bytes arrive changes nothing), and each block is searched
for what stands out (`read.survey`). Of each kind of line, told by its text without digits, a few are taken; the rest of
them is skipped. So a log of 10 GB that repeats one warning costs no more than its bytes, and the first occurrence of
everything is seen where it stands.
"""

from __future__ import annotations

import itertools
from array import array
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kb import lazy
from troubleshooter.read.log import ALL, NONE, RAISED, Log
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.standing import HEADER, RAISING
from troubleshooter.read.survey import AFTER, BEFORE, Search, Surveyed, Worker, line_ends
from troubleshooter.read.text import CHUNK, LINE_LIMIT

if TYPE_CHECKING:
    from troubleshooter.read.apart import Apart

HEAD, TAIL = 64 * 1024, 32 * 1024
"""Bytes at both ends that are looked at whole: how the run was set up, and its last failure, which is usually the one."""
SAME = 3
"""Lines of one kind that are looked at in the middle of a log."""
WINDOWS = 400
"""Places in the middle of a log that are looked at: so many exceptions of all kinds, and so many other lines."""
KINDS = 50_000
"""Kinds of lines that are told apart at most."""
NEAR, MESSAGE, WIDE = 150, 400, 16 * 1024
"""Bytes that are looked at: after a line that stands out, after an exception's, and where a traceback's frames stand."""
SAMPLE, SAMPLES, SHOWN = 128 * 1024, 64, 100
"""Every so many bytes, so many times, then half as often, and so on, so many bytes are looked at as a sample."""

_DIGITS = b"0123456789"
_HEADER = HEADER.encode()
_RAISED = lazy.compile(rb"\w(?:Error|Exception|Interrupt)(?::\s|\s*$)|terminate called|\b(?:FATAL|panicked)\b")
_WORD = lazy.compile("|".join(RAISING[1:]).encode())  # in a line that `_RAISED` matches
# Bytes beyond a span in which the ends of its lines are looked for: first few, then as many as a line may have.
_CLOSE, _MARGIN = 1024, LINE_LIMIT + 16

Piece = tuple[int, bytes]
"""Raw lines that follow each other: the number of the first, and their bytes (without the last line end)."""
Span = tuple[int, int]
"""Offsets in the log."""


class Windows:
    """Reads one input; ``pieces`` are what to look at, ``complete`` whether that was all of it."""

    def __init__(self, log: Log, scanner: Scanner, helpers: int = 0) -> None:
        """``helpers``: threads that search a large log beside the one that calls."""
        self._log = log
        self._scanner = scanner
        self._helpers = helpers
        self.complete = True
        self.bytes = 0
        self._line_ends = array("Q", [0])  # before each `CHUNK` of the log
        self._told = -1, 0  # an offset, and the number of its line
        self._upto = 0  # bytes before this offset have been given out or passed over for good
        self._cut = False  # it lies within a line of which the start was given out
        self._seen: dict[bytes, int] = {}
        self._header = -WIDE  # where the last traceback began
        self._worker: Worker | None = None
        self._left = {True: WINDOWS, False: WINDOWS}  # exceptions, other lines

    def pieces(self) -> Iterator[Piece]:
        """Every piece to look at, in the order of the log."""
        search: Apart | Search
        if (apart := self._log.apart) is not None:
            search, found = apart, apart.surveyed(self._scanner.standing)
        else:
            blocks = self._log.blocks()
            first = list(itertools.islice(blocks, 2))
            if len(first) < 2:
                for block in first:
                    data = bytes(block.load(bytearray(block.size)))
                    self.bytes = len(data)
                    yield 1, data.removesuffix(b"\n")
                return
            blocks = itertools.chain(first, blocks)
            search = Search(self._log, self._scanner.standing, self._helpers, blocks)
            found = search.surveyed()
        self.complete = False
        held: deque[Surveyed] = deque()
        chosen: deque[list[Span]] = deque()
        for item in found:
            held.append(item)
            self.bytes += item.size
            for count in item.line_ends:
                self._line_ends.append(self._line_ends[-1] + count)
            if len(held) > 2:
                chosen.append(self._spans(held.popleft()))
                if (wanted := self._wanted()) != ALL:
                    search.want(wanted)
            # Choosing costs less than reading, and may spare the search what nobody would look at.
            while chosen and not search.at_hand():
                yield from self._cut_out(chosen.popleft(), end=False)
        for spans in chosen:
            yield from self._cut_out(spans, end=False)
        while held:
            oldest = held.popleft()
            start, stop = oldest.block.offset, oldest.block.offset + oldest.size
            spans = self._spans(oldest)
            if stop > self.bytes - TAIL:
                spans.append((max(start, self.bytes - TAIL), stop))
            yield from self._cut_out(spans, end=not held)

    # --- where to look ---

    def _spans(self, item: Surveyed) -> list[Span]:
        """The parts of the log in and around the block that are worth a look."""
        offset, stop = item.block.offset, item.block.offset + item.size
        spans: list[Span] = [(0, HEAD)] if offset == 0 else []
        for at in range(offset, stop, SAMPLE) if any(item.line_ends) else ():
            index = at // SAMPLE
            if index % (1 << (index // SAMPLES).bit_length()) == 0:
                spans.append((at, at + SHOWN))
        if self._wanted() == NONE:
            return spans
        if not item.searched and offset - self._header <= WIDE:  # the traceback of the block before goes on here
            self._worker = self._worker or Worker(self._scanner.standing)
            item.search(self._worker)
        seen = self._seen
        taken = -1  # the line that was taken last
        for start, end, text in item.places:
            if start == taken:
                continue
            if (start == offset and end < offset + BEFORE) or end + AFTER > stop:  # the line may reach beyond the block
                around = self._log.take(end - BEFORE, end + AFTER)
                within = min(end, BEFORE)
                text = around[:within].rpartition(b"\n")[2] + around[within:].partition(b"\n")[0]
            if _HEADER in text:
                self._header = start
            raised = start - self._header <= WIDE or _raised(text)
            if not self._left[raised]:
                continue
            kind = text.translate(None, _DIGITS)
            count = seen.get(kind, 0)
            if count >= SAME:
                continue
            seen[kind] = count + 1
            self._left[raised] -= 1
            taken = start
            if start == self._header:
                spans.append((start, end + WIDE))
            else:  # with the frames above, if there are any
                low = self._header if start - self._header <= WIDE else start
                spans.append((low, end + (MESSAGE if raised else NEAR)))
        return spans

    def _wanted(self) -> int:
        """Which places in the middle will still be looked at."""
        if len(self._seen) > KINDS or not any(self._left.values()):
            return NONE
        return ALL if self._left[False] else RAISED

    # --- cutting it out ---

    def _cut_out(self, spans: list[Span], *, end: bool) -> Iterator[Piece]:
        """The whole lines that the spans touch and that were not given out; ``end``: nothing comes after the last."""
        for low, high in _merged(spans):
            for margin in (_CLOSE, _MARGIN):
                base = max(low - margin, 0)
                data = self._log.take(base, high + margin)
                start = self._line_start(data, base, max(low, 0) - base, margin == _MARGIN)
                stop = data.find(b"\n", max(high - base, 1) - 1)
                if start is not None and stop != -1:
                    break
            high = min(high - base, len(data))
            if start is None or start >= high:
                continue
            last = end and stop == -1
            stop = len(data) if stop == -1 else stop
            yield self._number(base + start), data[start : min(stop, high + LINE_LIMIT)]
            self._cut = stop == len(data) and not last
            self._upto = base + stop + (0 if self._cut else 1)

    def _line_start(self, data: bytes, base: int, low: int, wide: bool) -> int | None:
        """Where the line begins that stands at ``low``. Where its start is not even ``wide`` at hand, or was given out,
        the first one after it."""
        upto = self._upto - base
        if low > upto:
            line_end = data.rfind(b"\n", max(upto, 0), low)
            if line_end != -1:
                return line_end + 1
        if upto >= 0 and not self._cut:
            return upto
        if upto < 0 and not wide:
            return None
        line_end = data.find(b"\n", max(low, upto, 0))
        return line_end + 1 if line_end != -1 else None

    def _number(self, at: int) -> int:
        """The number of the line that holds an offset; counted from the place that was asked for before it, if that is near."""
        start = at - at % CHUNK
        number = 1 + self._line_ends[at // CHUNK]
        if start <= self._told[0] <= at:
            start, number = self._told
        self._told = at, number + line_ends(self._log.take(start, at))
        return self._told[1]


def _raised(text: bytes) -> bool:
    """Whether an exception, or what ends a process like one, is named. Its words are looked for first: the expression
    takes three times as long on a line without them."""
    return _WORD.search(text) is not None and _RAISED.search(text) is not None


def _merged(spans: list[Span]) -> list[Span]:
    """Overlapping ranges made one, in order."""
    out: list[Span] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out
