"""Chunks of bytes → lines, in constant memory: a line is looked at up to `LINE_LIMIT`, the rest of it is skipped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from troubleshooter.lean import dataclass
from troubleshooter.read.line import GAP, Line, lines
from troubleshooter.read.numbered import numbering
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.sources import Source
from troubleshooter.read.text import LINE_LIMIT
from troubleshooter.read.windows import Windows
from troubleshooter.read.wrapped import joined, width


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


@dataclass(slots=True)
class Seen:
    """How much of a source there was, and whether all of it was looked at line by line."""

    bytes: int = 0
    complete: bool = True


def read(
    source: Source, file: int = 0, scanner: Scanner | None = None, seen: Seen | None = None, helpers: int = 0
) -> Iterator[Line]:
    """The lines of a source: all of a small one, of a large one those worth a look (all, without a scanner).

    ``helpers``: threads that search a large log beside the one that calls.
    """
    stream = f"rank {source.rank}" if source.rank is not None else ""
    seen = seen or Seen()
    if source.notebook:
        yield from _notebook(source, file)
        return
    if scanner is None:
        for number, raw in raw_lines(source.chunks()):
            yield from lines(raw, number, file, stream, source.rank)
        return
    with source.log() as log:
        windows = Windows(log, scanner, helpers)
        lines_of = scanner.shapes.lines
        following = 1
        numbered, columns = None, 0
        for first, piece in windows.pieces():
            if first == 1:
                numbered, columns = numbering(piece), width(piece)
            if first != following:
                yield GAP
            following = first + piece.count(b"\n") + 1
            every: Iterable[tuple[int, bytes]] = enumerate(piece.split(b"\n"), first)
            for number, raw in joined(every, columns) if columns else every:
                if numbered and (found := numbered.match(raw)):
                    raw = raw[found.end() :]
                yield from lines_of(raw, number, file, stream, source.rank)
    seen.bytes, seen.complete = windows.bytes, windows.complete


def _notebook(source: Source, file: int) -> Iterator[Line]:
    """The outputs of a notebook's cells. Each printed line stands on a raw line of the file, which is its place."""
    in_source = False
    for number, raw in raw_lines(source.chunks()):
        text = raw.strip()
        if text.startswith(b'"source": ['):
            in_source = not text.endswith((b"]", b"],"))
            continue
        if in_source:
            in_source = text not in (b"]", b"],")
            continue
        if text.startswith(b"{") and b'"cells"' in text:
            yield from _compact(raw, number, file)
            return
        if text.startswith((b'"text": "', b'"evalue"')):
            continue
        if not text.startswith(b'"'):
            continue
        try:
            value = json.loads(text.rstrip(b","))
        except ValueError:
            continue
        for part in value.split("\n") if isinstance(value, str) else ():
            yield from lines(part.encode("utf-8", "replace"), number, file)


def _compact(raw: bytes, number: int, file: int) -> Iterator[Line]:
    """A notebook written on one line."""
    try:
        cells = json.loads(raw).get("cells", [])
    except ValueError:
        return
    for cell in cells:
        for output in cell.get("outputs", []):
            parts = output.get("traceback") or output.get("text") or []
            whole = parts if isinstance(parts, str) else ("\n" if output.get("traceback") else "").join(parts)
            for part in whole.split("\n"):
                yield from lines(part.encode("utf-8", "replace"), number, file)
