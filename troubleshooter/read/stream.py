"""Turns chunks of bytes into lines, in constant memory: a line is read up to `LINE_LIMIT`, and the rest of it is
skipped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Literal

from troubleshooter.read.line import GAP, Line
from troubleshooter.read.line_numbers import line_number_pattern
from troubleshooter.read.notebook import Notebook
from troubleshooter.read.redraws import Shortened
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.sources import BINARY_BYTES, Source, binary
from troubleshooter.read.split import split_line
from troubleshooter.read.text import LINE_LIMIT
from troubleshooter.read.unwrap import detect_width, rejoin_wrapped

WHOLE_BYTES = 512 * 1024
"""A log of at most this many bytes is read line by line from its start to its end."""


def raw_lines(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """``(number, bytes)`` of every raw line, counted from 1, without its line end."""
    number = 1
    held = b""
    for chunk in chunks:
        parts = chunk.split(b"\n")
        if len(parts) == 1:
            if len(held) < LINE_LIMIT:
                held += chunk[:LINE_LIMIT]
            continue
        yield number, held + parts[0][:LINE_LIMIT]
        number += 1
        for part in parts[1:-1]:
            yield number, part
            number += 1
        held = parts[-1][:LINE_LIMIT]
    if held:
        yield number, held


Problem = Literal["blank", "binary", "damaged", "no-facts"]
"""What is wrong with an input: ``blank`` has no text, ``binary`` does not look like text, ``damaged`` could be read
only up to some place, ``no-facts`` is named like crash facts and holds none."""


class Seen:
    """Facts about a source after reading: its size, whether every line was read, and what is wrong with it."""

    __slots__ = ("bytes", "complete", "detail", "problem")

    def __init__(self) -> None:
        self.bytes = 0
        self.complete = True
        self.problem: Problem | None = None
        self.detail = ""
        """The decoder's message for a damaged input."""


def read(source: Source, file: int = 0, scanner: Scanner | None = None, seen: Seen | None = None) -> Iterator[Line]:
    """The lines of a source: all lines of a small one, and the excerpts of a large one (all lines if there is no scanner)."""
    stream = f"rank {source.rank}" if source.rank is not None else ""
    seen = seen or Seen()
    if source.notebook:
        yield from _notebook(source, file, seen)
        return
    if scanner is None:
        for number, raw in raw_lines(source.chunks()):
            yield from split_line(raw, number, file, stream, source.rank)
        return
    templates = scanner.templates
    following, blank, head = 1, True, b""
    numbered, columns = None, 0
    for first, piece in _pieces(source.chunks(), scanner, seen):
        blank = blank and (not piece or piece.isspace())
        if first == 1:
            head = piece[:BINARY_BYTES]
            numbered, columns = line_number_pattern(piece), detect_width(piece)
        if first != following:
            yield GAP
        following = first + piece.count(b"\n") + 1
        every: Iterable[tuple[int, bytes]] = enumerate(piece.split(b"\n"), first)
        for number, raw in rejoin_wrapped(every, columns) if columns else every:
            if numbered and (found := numbered.match(raw)):
                raw = raw[found.end() :]
            yield from split_line(raw, number, file, stream, source.rank, templates)
    seen.detail = source.damaged
    if seen.detail:
        seen.problem = "damaged"
    elif blank:
        seen.problem = "blank"
    elif binary(head):
        seen.problem = "binary"


def _pieces(chunks: Iterator[bytes], scanner: Scanner, seen: Seen) -> Iterator[tuple[int, bytes]]:
    """Pieces of raw lines that follow each other, each with the number of its first line. A small log is one piece; the
    pieces of a large one are its excerpts."""
    start: list[bytes] = []
    shortened = Shortened(chunks)
    chunks = iter(shortened)
    for chunk in chunks:
        start.append(chunk)
        seen.bytes += len(chunk)
        if seen.bytes > WHOLE_BYTES:
            from troubleshooter.read.large.excerpts import Excerpts

            excerpts = Excerpts(chain(start, chunks), scanner.prefilter)
            yield from excerpts.chunks()
            seen.bytes, seen.complete = excerpts.bytes + shortened.dropped, False
            return
    seen.bytes += shortened.dropped
    if seen.bytes:
        yield 1, b"".join(start).removesuffix(b"\n")


def _notebook(source: Source, file: int, seen: Seen) -> Iterator[Line]:
    """The lines that the cells of a notebook printed."""
    notebook = Notebook(source.chunks())
    blank = True
    for line in notebook.lines(file):
        blank = blank and not line.text
        yield line
    seen.bytes, seen.complete, seen.detail = notebook.bytes, notebook.complete, source.damaged or notebook.damaged
    if blank:
        seen.problem = "blank"
    elif seen.detail:
        seen.problem = "damaged"
