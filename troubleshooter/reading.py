"""Shows how a log was read, line by line: prefix, traceback layout, frame, message, metric, exit, fact, phase.

Everything is taken from the observer's own results, so it can never disagree with a diagnosis.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Literal, NamedTuple

from troubleshooter.observe.model import Failure
from troubleshooter.observe.observations import Observations
from troubleshooter.observe.observer import Observer, StreamPart
from troubleshooter.observe.tracebacks.frames import HEADER, frame_position
from troubleshooter.observe.tracebacks.normalize import normalize_traceback_lines
from troubleshooter.read.line import Line
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.sources import Source
from troubleshooter.read.stream import Seen, raw_lines, read
from troubleshooter.read.text import texts

MAX_PREFIX_CHARACTERS = 200

NoteKind = Literal[
    "prefix", "prefix of stream", "edit", "removed", "traceback", "frame", "between", "exception", "cut-off", "again", "message", "exit",
    "metric", "fact", "phase", "well", "installed",
]  # fmt: skip


class Note(NamedTuple):
    """One thing that was read from a line, with its ``values`` by name, such as the ``layout`` of a traceback."""

    kind: NoteKind
    values: dict[str, str]


class ReadLine(NamedTuple):
    """A raw line from which something was read: its number from 1, its text, and what was read."""

    number: int
    text: str
    notes: list[Note]


class Reading(NamedTuple):
    """The lines of one source from which something was read, in order. ``lines_read`` counts all lines that were read;
    ``complete`` is False if only parts of a large log were."""

    lines: list[ReadLine]
    lines_read: int
    complete: bool


def reading(source: Source, scanner: Scanner) -> Reading:
    """How a source is read. The source is read twice. Raises `Unreadable`."""
    parts: list[StreamPart] = []
    observer, seen = Observer(scanner, parts), Seen()
    observer.feed(read(source, 0, scanner, seen))
    observations = observer.finish()
    notes: dict[int, list[Note]] = defaultdict(list)
    kept = {id(failure) for failure in observations.failures}
    for part in parts:
        _note_edits(part.lines, notes)
        for failure in part.failures:
            _note_failure(failure, part.lines, id(failure) in kept, notes)
    _note_others(observations, notes)
    first = {line.number: line for part in reversed(parts) for line in reversed(part.lines)}
    raw = {} if source.notebook else {number: text for number, text in raw_lines(source.chunks()) if number in notes}
    shown = []
    for number, own in sorted(notes.items()):
        line = first.get(number)
        text = "\n".join(texts(raw[number])) if number in raw else line.text if line else ""
        shown.append(ReadLine(number, text, [*_prefix_notes(text, line), *own]))
    return Reading(shown, observations.lines, seen.complete)


def _prefix_notes(text: str, line: Line | None) -> list[Note]:
    """The prefix that was taken off a raw line, and the stream that it names."""
    at = text.find(line.text) if line is not None and line.text else 0
    prefix = text[: max(at, 0)]
    if line is None or not prefix.strip() or len(prefix) > MAX_PREFIX_CHARACTERS:
        return []
    values = {"text": prefix.strip()}
    return [Note("prefix of stream", {**values, "stream": line.stream}) if line.stream else Note("prefix", values)]


def _note_edits(lines: list[Line], notes: dict[int, list[Note]]) -> None:
    """Note the lines that were rewritten before tracebacks were read."""
    edits = normalize_traceback_lines(lines)
    for at, rule in sorted(edits.rules.items()):
        text = edits.lines[at].text
        kind: NoteKind = "edit" if text else "removed"
        notes[lines[at].number].append(Note(kind, {"text": text, "rule": rule} if text else {"rule": rule}))


def _note_failure(failure: Failure, lines: list[Line], is_kept: bool, notes: dict[int, list[Note]]) -> None:
    """Note the lines of an exception: header, frames, message, and the lines between them."""
    layout: dict[str, str] = {"layout": failure.layout}
    if failure.start.number != failure.line.number and HEADER in failure.start.text:
        notes[failure.start.number].append(Note("traceback", layout))
    for frame in failure.frames:
        if frame.seen is not None:
            position = frame_position(frame.seen.text.strip("│| "))
            form = position.form if position else failure.layout
            values = {"file": frame.file, "at": str(frame.line), "function": frame.function, "form": form}
            notes[frame.seen.number].append(Note("frame", values))
    read_numbers = {note.seen.number for note in failure.frames if note.seen is not None}
    last = failure.line.number
    for line in lines:
        between = failure.start.number < line.number < last and line.number not in read_numbers
        if between and line.text and line.stream == failure.line.stream:
            notes[line.number].append(Note("between", {}))
    if not failure.exception:
        notes[last].append(Note("cut-off", layout))
    elif is_kept:
        notes[last].append(Note("exception", {"type": failure.exception, "role": failure.role, **layout}))
    else:
        notes[last].append(Note("again", {"type": failure.exception, **layout}))
    for line in failure.below:
        if line.text:
            notes[line.number].append(Note("message", {}))


def _note_others(observations: Observations, notes: dict[int, list[Note]]) -> None:
    """Note metrics, exits, facts, phases and the signs that something ended well."""
    values: dict[int, list[str]] = defaultdict(list)
    for name, points in observations.metrics.items():
        for point in points:
            values[point.line.number].append(f"{name}={point.value:g}")
    for number, found in values.items():
        notes[number].append(Note("metric", {"values": ", ".join(found)}))
    for exit_ in observations.exits:
        notes[exit_.line.number].append(Note("exit", {"status": str(exit_.status)}))
    for fact in observations.facts:
        notes[fact.line.number].append(
            Note("fact", {"fact": " ".join(filter(None, (fact.kind, fact.name, fact.value)))})
        )
    for phase, line in observations.phases:
        notes[line.number].append(Note("phase", {"phase": phase}))
    for progress in observations.progress.values():
        if progress.well:
            notes[progress.well].append(Note("well", {}))
        if progress.installed:
            notes[progress.installed].append(Note("installed", {}))
