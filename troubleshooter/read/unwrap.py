"""Rejoins lines that a terminal broke at its width, as a pane of tmux or a Windows console does.

No pattern finds a message that is broken in the middle of a word, and a broken line of a traceback hides where it ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kb import lazy
from troubleshooter.masking import zero_digits

MIN_COLUMNS, MAX_COLUMNS = 40, 320
"""The narrowest and the widest terminal, in columns."""
MIN_BROKEN_WORDS = 2
"""If this many words are broken at one column, the terminal had that width."""
MAX_JOINED_BYTES = 8 * 1024
"""A line of this many bytes is not continued: rows of a file in base64 all have the same width."""
ALIKE_BYTES = 6
"""Two lines that begin with this many equal bytes (apart from digits) are rows of one format, not parts of a broken line."""

_LINE_START = lazy.compile(
    rb"\s*(?:File \"|Traceback \(|During handling|\[|\{|\(|\d{4}-\d\d-\d\d|(?:INFO|WARNING|ERROR|DEBUG)\b|[\w.]+(?:Error|Exception): )"
)


def detect_width(piece: bytes) -> int:
    """The column at which the lines of a piece were broken; 0 if they were not."""
    piece = piece.replace(b"\r\n", b"\n")
    lines = piece.split(b"\n")
    sizes = list(map(len, lines if piece.isascii() else piece.decode("utf-8", "replace").split("\n")))
    most = max(sizes)
    if not MIN_COLUMNS <= most <= MAX_COLUMNS or sizes.count(most) < MIN_BROKEN_WORDS:
        return 0
    broken = Counter(
        lines[at][-1:].isalnum() and lines[at + 1][:1].isalnum() and not _begins_anew(lines[at], lines[at + 1])
        for at in range(len(lines) - 1)
        if sizes[at] == most
    )
    return most if broken[True] >= max(MIN_BROKEN_WORDS, broken[False] / 4) else 0


def rejoin_wrapped(lines: Iterable[tuple[int, bytes]], width: int) -> Iterator[tuple[int, bytes]]:
    """The numbered raw lines, with the parts of a line that was broken at ``width`` joined under the number of the
    first part."""
    held: tuple[int, bytes] | None = None
    full = False
    for number, line in lines:
        line = line.rstrip(b"\r")
        if held is not None and full and line and len(held[1]) < MAX_JOINED_BYTES and not _begins_anew(held[1], line):
            held = held[0], held[1] + line
        else:
            if held is not None:
                yield held
            held = number, line
        full = _columns(line) == width
    if held is not None:
        yield held


def _begins_anew(line: bytes, following: bytes) -> bool:
    """Whether the line below a line of full width is a line of its own, not its continuation."""
    return (
        zero_digits(following[:ALIKE_BYTES]) == zero_digits(line[:ALIKE_BYTES])
        or _LINE_START.match(following) is not None
    )


def _columns(line: bytes) -> int:
    return len(line) if line.isascii() else len(line.decode("utf-8", "replace"))
