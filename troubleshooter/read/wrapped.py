"""Lines that a terminal broke at its width and that were copied as several: a pane of tmux, a Windows console.

A message that is broken in the middle of a word is found by no pattern, and a broken line of a traceback hides where it ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kb import lazy
from troubleshooter.read.shapes import ZEROS

NARROWEST, WIDEST = 40, 320
"""Columns of terminals."""
BREAKS = 2
"""Words broken at the same column from which on it is taken for the terminal's."""
LONGEST = 8 * 1024
"""Bytes from which on a line is not put together further: rows of a file in base64 are all of one width."""
ALIKE = 6
"""Bytes at their start in which two lines of one format agree, but for digits: rows of equal width are no broken line."""

_FRESH = lazy.compile(
    rb"\s*(?:File \"|Traceback \(|During handling|\[|\{|\(|\d{4}-\d\d-\d\d|(?:INFO|WARNING|ERROR|DEBUG)\b|[\w.]+(?:Error|Exception): )"
)


def width(piece: bytes) -> int:
    """The column at which the lines of a piece were broken, 0 where they were not."""
    piece = piece.replace(b"\r\n", b"\n")
    lines = piece.split(b"\n")
    sizes = list(map(len, lines if piece.isascii() else piece.decode("utf-8", "replace").split("\n")))
    most = max(sizes)
    if not NARROWEST <= most <= WIDEST or sizes.count(most) < BREAKS:
        return 0
    broken = Counter(
        lines[at][-1:].isalnum() and lines[at + 1][:1].isalnum() and not _fresh(lines[at], lines[at + 1])
        for at in range(len(lines) - 1)
        if sizes[at] == most
    )
    return most if broken[True] >= max(BREAKS, broken[False] / 4) else 0


def joined(lines: Iterable[tuple[int, bytes]], width: int) -> Iterator[tuple[int, bytes]]:
    """Numbered raw lines with what was broken at ``width`` put together, under the number of its first part."""
    held: tuple[int, bytes] | None = None
    full = False
    for number, line in lines:
        line = line.rstrip(b"\r")
        if held is not None and full and line and len(held[1]) < LONGEST and not _fresh(held[1], line):
            held = held[0], held[1] + line
        else:
            if held is not None:
                yield held
            held = number, line
        full = _columns(line) == width
    if held is not None:
        yield held


def _fresh(line: bytes, following: bytes) -> bool:
    """Whether what follows a line of full width is one of its own."""
    return following[:ALIKE].translate(ZEROS) == line[:ALIKE].translate(ZEROS) or _FRESH.match(following) is not None


def _columns(line: bytes) -> int:
    return len(line) if line.isascii() else len(line.decode("utf-8", "replace"))
