"""``explain --reading LOG``: show how the lines of a log were read, to find out why a log is misread."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from kb.text.catalog import Section
from troubleshooter.cli.knowledge import page
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Source, from_path, from_text
from troubleshooter.reading import Note, Reading, ReadLine, reading
from troubleshooter.report.fill import safe

MAX_CHARACTERS = 160
"""A line of the log is shown up to this many characters."""
NUMBER_COLUMNS = 7

_say = Section("reading")
_NAMED = {"layout": "layout", "role": "role", "rule": "edit"}
"""Values of notes that are shown as a phrase, and the beginning of that phrase's key."""


def show(log: Path, entries: list[Path], lang: str) -> int:
    """Print how each source of a log was read; ``-`` is standard input. Returns 0. Raises `Unreadable`."""
    scanner = Diagnoser.load(entries).scanner
    sources: list[Source] = [from_text(sys.stdin.buffer.read())] if str(log) == "-" else from_path(log)
    lines = []
    for source in sources:
        if len(sources) > 1:
            lines += [source.name, ""]
        lines += describe(reading(source, scanner), lang)
    page(lines)
    return 0


def describe(found: Reading, lang: str) -> Iterator[str]:
    """The reading of one source as lines of text."""
    if not found.lines:
        yield _say("nothing", lang)
    if not found.complete:
        yield _say("excerpts", lang)
    above = 0
    for line in found.lines:
        yield from _skipped(line.number - above - 1, lang)
        yield from _line(line, lang)
        above = line.number
    if found.lines and found.complete:
        yield from _skipped(found.lines_read - above, lang)


def _line(line: ReadLine, lang: str) -> Iterator[str]:
    for number, text in enumerate(line.text.split("\n")):
        yield f"{'' if number else line.number:>{NUMBER_COLUMNS}}  {safe(text, MAX_CHARACTERS)}"
    for note in dict.fromkeys(_note(note, lang) for note in line.notes):
        yield f"{'':>{NUMBER_COLUMNS}}    → {note}"


def _note(note: Note, lang: str) -> str:
    values = {
        name: _say(f"{_NAMED[name]}-{value}", lang) if name in _NAMED else safe(value, MAX_CHARACTERS)
        for name, value in note.values.items()
    }
    return _say(note.kind, lang, **values) if values else _say(note.kind, lang)


def _skipped(count: int, lang: str) -> Iterator[str]:
    """A line for lines from which nothing was read."""
    if count > 0:
        text = _say("one-unread", lang) if count == 1 else _say("nothing-read", lang, count=count)
        yield f"{'⋮':>{NUMBER_COLUMNS}}  {text}"
