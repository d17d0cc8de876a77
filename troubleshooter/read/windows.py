"""The parts of a log that are looked at line by line: all of a small one; of a large one its start, its end, and a
window around everything that stands out.

A log is read once, in blocks of fixed size (so that the way its bytes arrive changes nothing), and each block is searched
for what stands out (`read.survey`). Of each kind of line, told by its text without digits, a few are taken; the rest of
them is skipped. So a log of 10 GB that repeats one warning costs no more than its bytes, and the first occurrence of
everything is seen where it stands.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator

from troubleshooter.read.blocks import Block, Buffers
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.survey import Surveyed, surveyed
from troubleshooter.read.text import LINE_LIMIT

HEAD, TAIL = 64 * 1024, 128 * 1024
"""Bytes at both ends that are looked at whole: how the run was set up, and its last failure, which is usually the one."""
SAME = 3
"""Lines of one kind that are looked at in the middle of a log."""
WINDOWS = 1000
"""Places in the middle of a log that are looked at, all kinds together."""
NEAR, MESSAGE, WIDE = 150, 1000, 16 * 1024
"""Bytes that are looked at: after a line that stands out, after an exception's, and where a traceback's frames stand."""
SAMPLE, SAMPLES, SHOWN = 128 * 1024, 64, 100
"""Every so many bytes, so many times, then half as often, and so on, so many bytes are looked at as a sample."""

MARKS = (
    "': nan", "=nan", ": nan", "'nan'", '"nan"', "': inf", "=inf", ": inf", "'inf'", '"inf"', "'-inf'",
    "'loss': 0.0,", "'loss': '0'", "'grad_norm': 0.0,", "'grad_norm': '0'", "'learning_rate': 0.0,", '"loss": 0.0,',
)  # fmt: skip
"""Anomalies of metrics that make a place worth a look, in lower case (beside those of `kb.standing`)."""

_DIGITS = b"0123456789"
_HEADER = re.compile(rb"(?i)traceback \(most recent")
_RAISED = re.compile(rb"\w(?:Error|Exception|Interrupt)(?::\s|\s*$)|terminate called|\b(?:FATAL|panicked)\b")
_MARGIN = WIDE + LINE_LIMIT

Piece = tuple[int, bytes]
"""Raw lines that follow each other: the number of the first, and their bytes (without the last line end)."""
Span = tuple[int, int]
"""Offsets in the log."""


class Windows:
    """Reads one input; ``pieces`` are what to look at, ``complete`` whether that was all of it."""

    def __init__(self, blocks: Callable[[Buffers], Iterable[Block]], scanner: Scanner, helpers: int = 0) -> None:
        """``blocks``: the log in memory that is given; ``helpers``: threads that search a large log beside the one that
        calls."""
        self._blocks = blocks
        self._scanner = scanner
        self._helpers = helpers
        self.complete = True
        self.bytes = 0
        self._upto = 0  # bytes before this offset have been given out or passed over for good
        self._cut = False  # it lies within a line of which the start was given out
        self._seen: dict[bytes, int] = {}
        self._windows = 0

    def pieces(self) -> Iterator[Piece]:
        """Every piece to look at, in the order of the log."""
        buffers = Buffers()
        blocks = iter(self._blocks(buffers))
        first = list(itertools.islice(blocks, 2))
        if len(first) == 2:
            self.complete = False
            yield from self._large(itertools.chain(first, blocks), buffers)
        elif first:
            first[0].fill()
            self.bytes = len(first[0].data)
            yield 1, bytes(first[0].data.removesuffix(b"\n"))

    def _large(self, blocks: Iterable[Block], buffers: Buffers) -> Iterator[Piece]:
        held: deque[tuple[Surveyed, int]] = (
            deque()
        )  # blocks, and the number of the first line that begins in or before each
        before = bytearray()
        line = 1
        for item in surveyed(blocks, self._scanner, self._helpers):
            held.append((item, line))
            line += item.block.line_ends
            self.bytes += len(item.block.data)
            if len(held) > 2:
                oldest, number = held.popleft()
                after = held[0][0].block.data
                yield from self._cut_out(self._spans(oldest, before, after), oldest.block, number, before, after)
                buffers.give(before)
                before = oldest.block.data
        while held:
            oldest, number = held.popleft()
            following = held[0][0].block.data if held else None
            spans = self._spans(oldest, before, following or bytearray())
            end = oldest.block.offset + len(oldest.block.data)
            if end > self.bytes - TAIL:
                spans.append((max(oldest.block.offset, self.bytes - TAIL), end))
            yield from self._cut_out(spans, oldest.block, number, before, following)
            before = oldest.block.data

    # --- where to look ---

    def _spans(self, item: Surveyed, before: bytearray, after: bytearray) -> list[Span]:
        """The parts of the log in and around the block that are worth a look."""
        offset, data = item.block.offset, item.block.data
        spans: list[Span] = [(0, HEAD)] if offset == 0 else []
        for at in range(offset + NEAR, offset + len(data), SAMPLE) if item.block.line_ends else ():
            index = at // SAMPLE
            if index % (1 << (index // SAMPLES).bit_length()) == 0:
                spans.append((at, at + SHOWN))
        seen = self._seen
        if self._windows >= WINDOWS or len(seen) > 50_000:
            return spans
        taken = -1  # the line that was taken last
        for end in item.places:
            start = data.rfind(b"\n", max(0, end - LINE_LIMIT), end - 1) + 1
            if start == taken:
                continue
            line = data[max(start, end - 120) : end + 80].partition(b"\n")[0]
            if start == 0 and end < 120:  # a line that may begin in the block before, or end in the next one
                line = before[end - 120 :].rpartition(b"\n")[2] + line
            elif end + 80 > len(data):
                line = (line + after[:80]).partition(b"\n")[0]
            kind = bytes(line.translate(None, _DIGITS))
            count = seen.get(kind, 0)
            if count >= SAME:
                continue
            seen[kind] = count + 1
            self._windows += 1
            taken = start
            spans.append(self._around(data, line, offset, start, end))
        return spans

    def _around(self, data: bytearray, line: bytearray, offset: int, start: int, end: int) -> Span:
        if _HEADER.search(line):
            return offset + start, offset + end + WIDE
        if _RAISED.search(line) or data.rfind(b"Traceback (most", max(0, end - WIDE), end) != -1:
            return offset + start - WIDE, offset + end + MESSAGE
        return offset + start, offset + end + NEAR

    # --- cutting it out ---

    def _cut_out(
        self, spans: list[Span], block: Block, number: int, before: bytearray, after: bytearray | None
    ) -> Iterator[Piece]:
        """The whole lines that the spans touch and that were not given out; ``after`` is None at the end of the log."""
        merged = _merged(spans)
        if not merged:
            return
        data, base = block.data, block.offset
        if data.rfind(b"\n", 0, max(merged[0][0] - base, 0)) == -1 or data.find(b"\n", merged[-1][1] - base) == -1:
            margin = before[-_MARGIN:]
            data, base = margin + data + (after or b"")[:_MARGIN], base - len(margin)
        ahead = block.offset - base  # bytes of the block before that are at hand
        for low, high in merged:
            start = self._line_start(data, base, low - base)
            high = min(high - base, len(data))
            if start is None or start >= high:
                continue
            at = min(max(start - ahead, 0), len(block.data))
            line = number + block.line_ends_before(at)
            line += data.count(b"\n", at + ahead, start) - data.count(b"\n", start, at + ahead)
            stop = data.find(b"\n", high - 1)
            last = after is None and stop == -1
            stop = len(data) if stop == -1 else stop
            if stop - high > LINE_LIMIT:
                yield line, bytes(data[start : high + LINE_LIMIT])
            else:
                yield line, bytes(data[start:stop])
            self._cut = stop == len(data) and not last
            self._upto = base + stop + (0 if self._cut else 1)

    def _line_start(self, data: bytearray, base: int, low: int) -> int | None:
        """Where the line begins that stands at ``low``, or the first one after it whose start is at hand and new."""
        upto = self._upto - base
        if low > upto:
            line_end = data.rfind(b"\n", max(upto, 0), low)
            if line_end != -1:
                return line_end + 1
        if upto >= 0 and not self._cut:
            return upto
        # In a line that began before what is at hand, or whose start was given out.
        line_end = data.find(b"\n", max(low, upto, 0))
        return line_end + 1 if line_end != -1 else None


def _merged(spans: list[Span]) -> list[Span]:
    """Overlapping ranges made one, in order."""
    out: list[Span] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out
