"""The parts of a log that are looked at line by line: all of a small one; of a large one its start, its end, and a
window around everything that stands out.

A log is read once, in blocks of fixed size (so that the way its bytes arrive changes nothing). Each block is scanned
for the literals of the entries and for marks of failures and metric anomalies. Of each kind of line, told by its text
without digits, a few are taken; the rest of them is skipped. So a log of 10 GB that repeats one warning costs no more
than its bytes, and the first occurrence of everything is seen where it stands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from troubleshooter.read.scanner import Scanner
from troubleshooter.read.text import LINE_LIMIT

BLOCK = 128 * 1024
TAIL_BLOCKS = 1
"""Blocks, and the part of one, at the end that are looked at whole: the last failure is usually the one."""
SAME = 3
"""Lines of one kind and literal that are looked at in the middle of a log."""
WINDOWS = 1000
"""Places in the middle of a log that are looked at, all kinds together."""
NEAR, WIDE = 500, 16 * 1024
"""Bytes on each side of a place: of a line that speaks for itself, and of a traceback's."""
SAMPLES = 64

# What makes a part of the middle worth a look, in lower case. A traceback's place is looked at widely.
WIDE_MARKS = ("traceback (most recent call last)", "error: ", "exception: ", "terminate called", "childfailederror")
NEAR_MARKS = (
    "error:", "exception:", "fatal", "killed", "core dumped", "segmentation fault", "bus error", "out of memory",
    "': nan", "=nan", ": nan", "'nan'", '"nan"', "': inf", "=inf", ": inf", "'inf'", '"inf"', "'-inf'",
    "'loss': 0.0,", "'loss': '0'", "'grad_norm': 0.0,", "'grad_norm': '0'", "'learning_rate': 0.0,", '"loss": 0.0,',
)  # fmt: skip
MARKS = WIDE_MARKS + NEAR_MARKS
_DIGITS = b"0123456789"

Piece = tuple[int, bytes]
"""Raw lines that follow each other: the number of the first, and their bytes (without the last line end)."""


class Windows:
    """Reads one input; ``pieces`` are what to look at, ``complete`` whether that was all of it."""

    def __init__(self, chunks: Iterator[bytes], scanner: Scanner, first_mark: int) -> None:
        self._chunks = chunks
        self._scanner = scanner
        self._wide = range(first_mark, first_mark + len(WIDE_MARKS))
        self.complete = True
        self.bytes = 0
        self._line = 1  # number of the line that the next byte to be read belongs to
        self._inside_long = False  # in a line longer than `LINE_LIMIT`, of which the start was given out
        self._upto = 0  # bytes before this offset have been given out or passed over for good
        self._seen: dict[tuple[int, bytes], int] = {}
        self._windows = 0

    def pieces(self) -> Iterator[Piece]:
        """Every piece to look at, in the order of the log."""
        held: deque[tuple[int, int, bytes]] = deque()  # (offset, number of its first line, bytes)
        before = b""
        head = True
        for block in _blocks(self._chunks):
            held.append((self.bytes, self._line, block))
            self.bytes += len(block)
            self._line += block.count(b"\n")
            if len(held) <= TAIL_BLOCKS + 1:
                continue
            offset, number, oldest = held.popleft()
            if head:
                yield from self._whole(offset, number, before, oldest)
            else:
                yield from self._middle(offset, number, before, oldest, held[0][2])
            before, head = oldest, False
        for offset, number, block in held:
            yield from self._whole(offset, number, before, block)
            before = block
        last = self.bytes - len(before) + before.rfind(b"\n") + 1
        if last < self.bytes and not self._inside_long:  # a last line without line end
            start = max(before.rfind(b"\n") + 1, self._upto - (self.bytes - len(before)))
            yield self._line, before[start:]

    # --- whole blocks: the start and the end ---

    def _whole(self, offset: int, number: int, before: bytes, block: bytes) -> Iterator[Piece]:
        """All lines that end in the block and were not given out; the first may have begun in the block before."""
        if not self._out_of_long(offset, block):
            return
        joined, base = before + block, offset - len(before)
        begun = before.rfind(b"\n") + 1  # where the line that reaches into the block begins
        start = max(begun, self._upto - base)
        stop = joined.rfind(b"\n")
        if stop < start:
            if len(joined) - start >= LINE_LIMIT:
                self._inside_long = True
                yield number, joined[start : start + LINE_LIMIT]
            return
        between = joined.count(b"\n", min(start, len(before)), max(start, len(before)))
        self._upto = base + stop + 1
        yield number + (between if start > len(before) else -between), joined[start:stop]

    # --- the middle ---

    def _middle(self, offset: int, number: int, before: bytes, block: bytes, after: bytes) -> Iterator[Piece]:
        self.complete = False
        spans = self._spans(offset, before, block)
        if not spans:
            return
        if not self._out_of_long(offset, block):
            return
        joined = before + block + after
        base = offset - len(before)
        counted, number = len(before), number
        for low, high in _merged(spans):
            low, high = max(low - base, self._upto - base, 0), min(high - base, len(joined))
            start = low if low == self._upto - base else joined.rfind(b"\n", 0, low) + 1
            if start == 0 and base + start != self._upto:  # the line began before what is at hand
                start = joined.find(b"\n", low) + 1 or high
            if start >= high:
                continue
            stop = joined.find(b"\n", high)
            number += joined.count(b"\n", counted, start) if start >= counted else -joined.count(b"\n", start, counted)
            counted = start
            if stop == -1 or stop - high > LINE_LIMIT:
                yield number, joined[start : high + LINE_LIMIT]
                self._inside_long = stop == -1
                self._upto = base + (stop + 1 if stop != -1 else len(joined))
                continue
            yield number, joined[start:stop]
            self._upto = base + stop + 1

    def _out_of_long(self, offset: int, block: bytes) -> bool:
        """Pass over the rest of a line that is longer than we look; False when the block holds nothing else."""
        if self._inside_long:
            line_end = block.find(b"\n", max(0, self._upto - offset))
            if line_end == -1:
                return False
            self._inside_long, self._upto = False, offset + line_end + 1
        return True

    def _spans(self, offset: int, before: bytes, block: bytes) -> list[tuple[int, int]]:
        """Absolute ranges of the block that are worth a look."""
        spans: list[tuple[int, int]] = []
        index = offset // BLOCK
        if index % max(1, 1 << max(0, (index // SAMPLES).bit_length())) == 0:
            spans.append((offset, offset + 200))  # a sample of the series, fixed by its place
        if self._windows >= WINDOWS:
            return spans
        seen = self._seen
        for literal, end in self._scanner.places(block):
            start = block.rfind(b"\n", 0, end) + 1
            stop = block.find(b"\n", end)
            line = block[start : stop if stop != -1 else start + 400][:200]
            kind = (literal, line.translate(None, _DIGITS))
            count = seen.get(kind, 0)
            if count >= SAME or len(seen) > 50_000:
                continue
            seen[kind] = count + 1
            self._windows += 1
            near = WIDE if self._is_wide(literal, block, end) else NEAR
            spans.append((offset + start - near, offset + end + near))
        return spans

    def _is_wide(self, literal: int, block: bytes, end: int) -> bool:
        """A traceback stands around: its header or its last line, or a message within one."""
        return literal in self._wide or block.rfind(b"Traceback (most", max(0, end - WIDE), end) != -1


def _blocks(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The bytes in blocks of one size, whatever the chunks they come in."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        if not held and len(chunk) == BLOCK:
            yield chunk
            continue
        held.append(chunk)
        size += len(chunk)
        if size >= BLOCK:
            whole = b"".join(held)
            for at in range(0, size - size % BLOCK, BLOCK):
                yield whole[at : at + BLOCK]
            held = [whole[size - size % BLOCK :]] if size % BLOCK else []
            size %= BLOCK
    if size:
        yield b"".join(held)


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping ranges made one, in order."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out
