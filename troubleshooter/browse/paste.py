"""Show a log beside its diagnosis: evidence is marked, ranks are labelled, lines far from the evidence are folded."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass, field

from troubleshooter.read.line import Line
from troubleshooter.read.sources import Source, Unreadable, from_stream
from troubleshooter.read.split import split_line
from troubleshooter.read.stream import raw_lines, read
from troubleshooter.read.text import plain
from troubleshooter.report.curves import curves
from troubleshooter.report.fill import safe
from troubleshooter.report.model import Report

BEFORE, AFTER = 14, 4
HEAD, TAIL = 4, 6
"""Lines shown before and after each line of evidence, and at the start and end of the log."""
SHOWN = 1500
"""At most this many lines around the evidence are shown."""
OPENED = 3000
"""A log of at most this many lines can be unfolded; in a longer one each fold only says how many lines it hides."""
LONGEST = 2000
"""A longer line is cut to this many characters."""


@dataclass(slots=True)
class PasteRow:
    """A line of the log. ``parts``: pieces of its text, each with True if it is evidence. ``anchor``: links lead here."""

    number: int
    parts: list[tuple[str, bool]]
    rank: int | None = None
    evidence: bool = False
    anchor: bool = False


@dataclass(slots=True)
class PasteBlock:
    """Consecutive rows. A folded block can be opened if it has ``rows``; else it only says its ``count`` of lines."""

    rows: list[PasteRow] = field(default_factory=list)
    folded: bool = False
    count: int = 0


@dataclass(slots=True)
class LogView:
    """A log as the page shows it. ``ranks``: several ranks printed it; ``lines``: how many lines it has in all."""

    blocks: list[PasteBlock]
    ranks: bool
    lines: int


def source(data: bytes, limit: int) -> Source:
    """Pasted bytes as a source: text, a notebook, or gzip data that unpacks to at most ``limit`` bytes. Raises `Unreadable`."""
    if data[:2] == b"\x1f\x8b":
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
                data = packed.read(limit + 1)
        except (OSError, EOFError) as error:
            raise Unreadable(f"the file looks like gzip but cannot be unpacked: {error}") from error
        if len(data) > limit:
            raise Unreadable(f"the file unpacks to more than {limit >> 20} MiB; use: troubleshoot FILE.gz")
    found = from_stream(io.BytesIO(data), "text")
    found.excerpt = True
    # A stream can be read only once, but the log is read twice: each reading gets a new stream.
    found.chunks = lambda: from_stream(io.BytesIO(data), "text").chunks()
    found.notebook = data[:200].lstrip()[:1] == b"{" and b'"nbformat"' in data
    return found


def log_view(pasted: Source, report: Report) -> LogView:
    """The log, folded around the lines that the report points at. It is read once, in bounded memory."""
    marked = _marked(report)
    near = _near(marked, report)
    total, rows = 0, {}
    small: dict[int, list[Line]] = {}
    for number, found in _lines(pasted, near):
        total = number
        if found is None:
            continue
        if number in near:
            rows[number] = found
        elif len(small) <= OPENED:
            small[number] = found
    tail = range(max(1, total - TAIL + 1), total + 1)
    for number in tail:
        if number in small:
            rows[number] = small[number]
    if total > OPENED:
        small = {}
    blocks = list(_blocks(total, rows, small, marked))
    ranked = any(row.rank is not None for block in blocks for row in block.rows)
    return LogView(blocks, ranked, total)


def _marked(report: Report) -> dict[int, list[str]]:
    """By line: the words that are evidence."""
    out: dict[int, list[str]] = {}
    for diagnosis in report.diagnoses:
        for shown in diagnosis.evidence:
            out.setdefault(shown.line, []).append(shown.text)
    if report.unexplained is not None:
        out.setdefault(report.unexplained["line"], []).append(report.unexplained["message"])
    return out


def _near(marked: dict[int, list[str]], report: Report) -> set[int]:
    """Numbers of the lines to show: evidence first, then other failures, each with lines around it."""
    wanted = [*marked, *(f.line for f in report.failures[:40])]
    if report.first_failure is not None:
        wanted += [item["line"] for item in report.first_failure["order"][:40]]
    wanted += [curve.lines[curve.wrong] for curve in curves(report) if curve.wrong is not None]
    near = set(range(1, HEAD + 1))
    for line in wanted:
        if len(near) > SHOWN:
            break
        near.update(range(max(1, line - BEFORE), line + AFTER + 1))
    return near | set(marked)


def _lines(pasted: Source, near: set[int]) -> Iterator[tuple[int, list[Line] | None]]:
    """Every raw line's number with what a person saw on it; None where it is neither near nor early nor late."""
    if pasted.notebook:
        last: list[Line] = []
        for line in read(pasted):
            if last and line.number != last[0].number:
                yield last[0].number, last
                last = []
            last.append(line)
        if last:
            yield last[0].number, last
        return
    held: list[tuple[int, bytes]] = []
    for number, raw in raw_lines(pasted.chunks()):
        if number in near or number <= OPENED + TAIL:
            yield number, split_line(raw, number)
            continue
        held.append((number, raw))
        if len(held) > TAIL:
            yield held.pop(0)[0], None
    for number, raw in held:
        near.add(number)
        yield number, split_line(raw, number)


def _blocks(
    total: int, rows: dict[int, list[Line]], small: dict[int, list[Line]], marked: dict[int, list[str]]
) -> Iterator[PasteBlock]:
    gap = PasteBlock(folded=True)
    block = PasteBlock()
    for number in sorted({*rows, *small}) if small else sorted(rows):
        here = rows.get(number)
        before = (block.rows or gap.rows)[-1].number if block.rows or gap.rows else 0
        missing = 0 if small else number - before - 1
        if here is None:
            if block.rows:
                yield block
                block = PasteBlock()
            gap.rows += _rows(number, small[number], [])
            gap.count += 1
            continue
        if gap.rows or missing > 0:
            if block.rows:
                yield block
                block = PasteBlock()
            gap.count += missing
            yield gap if gap.count > 3 or not gap.rows else PasteBlock(gap.rows)
            gap = PasteBlock(folded=True)
        block.rows += _rows(number, here, marked.get(number, []))
    yield from (b for b in (block, gap) if b.rows)


def _rows(number: int, printed: list[Line], words: list[str]) -> list[PasteRow]:
    out = []
    for index, line in enumerate(printed[:20]):
        text = safe(line.text, LONGEST)
        out.append(PasteRow(number, _parts(text, words), line.rank, bool(words), index == 0))
    return out


def _parts(text: str, words: list[str]) -> list[tuple[str, bool]]:
    """Split the text around the evidence in it. Evidence that is the whole line needs no mark."""
    for word in words:
        word = word.rstrip("…")
        at = text.find(word)
        if word and at >= 0 and len(word) < len(text.strip()) and word != plain(text):
            return [(text[:at], False), (text[at : at + len(word)], True), (text[at + len(word) :], False)]
    return [(text, False)]
