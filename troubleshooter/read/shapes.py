"""Lines that differ in their digits alone, as most lines of a log do: what one of them was read as holds for all.

The *shape* of a raw line is the line with ``0`` for every digit. How a line is taken apart, which literals it holds and where
its numbers stand is told by its shape, unless a literal has digits of its own that the shape may hold. So the second step of
a training loop is not searched for what the first one did not have. Kept by `Scanner`, for as many logs as it reads.
"""

from __future__ import annotations

from kb import lazy
from troubleshooter.read.line import Line, Shape, lines
from troubleshooter.read.prefix import strip

LONGEST, KEPT = 400, 4096
"""Bytes of a line that has a shape, and shapes that are kept."""

ZEROS = bytes.maketrans(b"123456789", b"000000000")
_LOST_COLOUR = lazy.compile(rb"\[[0;]*0m")


class Shapes:
    """The shapes that were seen."""

    def __init__(self) -> None:
        self.known: dict[bytes, Shape] = {}

    def lines(self, raw: bytes, number: int, file: int = 0, stream: str = "", rank: int | None = None) -> list[Line]:
        """What `read.line.lines` gives, with the shape of a line that is alone on its raw line."""
        if len(raw) > LONGEST:
            return lines(raw, number, file, stream, rank)
        key = raw.translate(ZEROS)
        shape = self.known.get(key)
        if shape is None:
            return self._learnt(key, raw, number, file, stream, rank)
        if shape.start < 0:
            return lines(raw, number, file, stream, rank)
        text = raw.decode("utf-8", "replace")
        if shape.named:
            rest, own, own_rank, stamped = strip(text)
            line = Line(rest.rstrip(), number, own or stream, rank if own_rank is None else own_rank, file, stamped)
        else:
            line = Line(text[shape.start :].rstrip(), number, stream, rank, file, shape.stamped)
        line.shape = shape
        return [line]

    def _learnt(self, key: bytes, raw: bytes, number: int, file: int, stream: str, rank: int | None) -> list[Line]:
        found = lines(raw, number, file, stream, rank)
        if len(self.known) >= KEPT:
            self.known.clear()
        shape = self.known[key] = Shape()
        text = raw.decode("utf-8", "replace")
        if len(found) == 1 and not _told_by_digits(key):
            rest, own, own_rank, stamped = strip(text)
            if rest.rstrip() == found[0].text:  # else more than a prefix was taken off
                shape.start = len(text) - len(rest)
                shape.named = own != "" or own_rank is not None
                shape.stamped = stamped
                found[0].shape = shape
        return found


def _told_by_digits(key: bytes) -> bool:
    """Whether the text may depend on what the digits are: colours that lost their escape byte, entities of HTML, lines of two
    ranks that were written at once, records of JSON (which has no 01)."""
    return (
        b"&#" in key
        or key.count(b"[rank") > 1
        or (b"0m" in key and _LOST_COLOUR.search(key) is not None)
        or (key.startswith(b'{"') and b'"loss"' not in key)
    )
