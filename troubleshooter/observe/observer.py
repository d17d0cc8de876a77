"""Turns lines into observations: gives each line to the readers that it concerns, and collects the lines of each stream
for its tracebacks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from troubleshooter.masking import mask_numbers
from troubleshooter.observe import ended
from troubleshooter.observe.attempts import pass_over_earlier
from troubleshooter.observe.facts import StreamReader
from troubleshooter.observe.metrics import MetricReader
from troubleshooter.observe.model import Failure
from troubleshooter.observe.observations import Observations
from troubleshooter.observe.progress import run_survived
from troubleshooter.observe.readers import METRICS, READERS, Reader
from troubleshooter.observe.roles import role_of
from troubleshooter.observe.tracebacks.frames import HEADER
from troubleshooter.observe.tracebacks.normalize import SHORT_PASTE_LINES, strip_words_around
from troubleshooter.observe.tracebacks.parser import parse, parse_part
from troubleshooter.read.line import GAP, Line
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.text import fold

MAX_LINES_PER_LITERAL = 48
"""Of the lines that contain one literal, the first and the last are kept, this many; all of them are counted."""
MAX_FAILURES = 2000
"""At most this many different exceptions of one run are kept."""
PART_LINES = 4000
"""A stream's lines are held until there are this many; then their tracebacks are read. After as many lines the lines
kept for literals are thinned out."""
MAX_JOINED_CHARACTERS, MAX_JOINED_LINES = 600, 4
"""A printed message that continues on the next lines is also read as one line of at most this length."""
MAX_MESSAGE_CHARACTERS = 400
"""Two exceptions are different if their messages differ within this many characters."""
MAX_STREAMS = 4096
"""For one exception at most this many streams are remembered."""


def _may_go_on(text: str) -> bool:
    """Whether a printed message may continue on the next line. The header of a traceback does not introduce a message."""
    return text[0].isalpha() and len(text) <= MAX_JOINED_CHARACTERS and HEADER not in text


class StreamPart(NamedTuple):
    """Lines of one stream and the exceptions that were read from them, before repeated ones are counted together."""

    lines: list[Line]
    failures: list[Failure]


PIECE_LINES = 4
"""A text of at most this many lines may be a piece of a message (`troubleshooter.pieces`)."""


class Observer:
    """Call `feed` with the lines in the order of the log, then `finish`."""

    def __init__(self, scanner: Scanner, parts: list[StreamPart] | None = None) -> None:
        """``parts``: called with each part of a stream after its tracebacks were read, to show how a log was read."""
        self.observations = Observations()
        self._parts = parts
        self._scanner = scanner
        self._metrics = MetricReader(self.observations)
        self._readers: list[Reader] = [self._metrics, *(reader(self.observations) for reader in READERS)]
        self._of_streams = StreamReader(self.observations)
        self._streams: dict[str, list[Line]] = {}
        self._by_frame: dict[tuple[str, str, str], Failure] = {}
        self._by_message: dict[tuple[str, ...], Failure] = {}
        self._open: tuple[Line, int] | None = (
            None  # a message that may continue below, and the number of its lines so far
        )
        self._fed = 0
        self._thin_out_at = PART_LINES
        self._tails: dict[int, deque[Line]] = {}  # by file: its last lines with text

    def feed(self, lines: Iterable[Line]) -> None:
        """Observe some lines of one file. Memory stays bounded however many lines there are."""
        find, hits = self._scanner.find, self.observations.hits
        tail: deque[Line] = deque(maxlen=ended.TAIL_LINES)
        for line in lines:
            if line is GAP:
                self._read_tracebacks(passed_over=True)
                continue
            self._fed += 1
            if self._fed >= self._thin_out_at:
                self._thin_out()
            self._hold(line)
            if self._open is not None:
                self._join(line)
            text = line.text
            if not text:
                continue
            tail.append(line)
            literals, called = find(line)
            for number in literals:
                if number in hits:
                    hits[number].append(line)
                else:
                    hits[number] = [line]
            if called or line.stream or self._metrics.is_open:
                self._read(line, called)
            if text[-1] in ":," and self._open is None and _may_go_on(text):
                self._open = line, 1
        if tail:
            self._tails[tail[-1].file] = tail

    def failures(self) -> list[Failure]:
        """The exceptions that were seen so far. What is fed afterwards belongs to none of them."""
        self._read_tracebacks()
        return self.observations.failures

    def finish(self) -> Observations:
        """Everything that was observed. The observer cannot be used afterwards."""
        self._read_tracebacks()
        self._thin_out()
        seen = self.observations
        seen.failures.sort(key=lambda f: (f.line.file, f.line.number))
        for failure in seen.failures:
            failure.role = role_of(failure)
            if failure.role == "initiating" and run_survived(seen.progress, failure):
                failure.role = "handled"
        pass_over_earlier(seen)
        seen.lines = self._fed
        if self._fed <= PIECE_LINES:
            seen.piece = [line for tail in self._tails.values() for line in tail]
        seen.ending = ended.ending_of_run(
            ended.ending_of_log([*tail], self._trains(file)) for file, tail in self._tails.items()
        )
        return seen

    def _read(self, line: Line, called: tuple[int, ...]) -> None:
        """Give a line to the readers that it concerns. Most readers skip lines that hold metrics."""
        if line.stream:
            self._of_streams.read(line)
        metrics = self._metrics
        holds_metrics = (METRICS in called or metrics.is_open) and metrics.read(line)
        for number in called:
            reader = self._readers[number]
            if number != METRICS and (not holds_metrics or reader.reads_metric_lines):
                reader.read(line)
        if holds_metrics and metrics.shows_work:
            progress = self.observations.progress_of(line.file)
            if progress.well != line.number:  # a record at the end of a run is not a training step
                progress.steps.append(line.number)

    def _hold(self, line: Line) -> None:
        """Keep a line for the tracebacks of its stream; read these once there are too many lines."""
        name = f"{line.file} {line.stream}" if line.file else line.stream
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = []
        stream.append(line)
        if len(stream) > PART_LINES:
            found, rest = parse_part(stream)
            self._take_part(stream[:rest], found)
            self._streams[name] = stream[rest:]

    def _trains(self, file: int) -> bool:
        """Whether a file shows a training: it holds records of one, or a line announces one."""
        progress = self.observations.progress.get(file)
        announced = any(phase == "train" and line.file == file for phase, line in self.observations.phases)
        return announced or (progress is not None and progress.steps[-1] > 0)

    def _thin_out(self) -> None:
        """Keep `MAX_LINES_PER_LITERAL` of the lines that hold one literal."""
        self._thin_out_at = self._fed + PART_LINES
        half = MAX_LINES_PER_LITERAL // 2
        for kept in self.observations.hits.values():
            if len(kept) > MAX_LINES_PER_LITERAL:
                del kept[half : len(kept) - half]

    def _join(self, line: Line) -> None:
        """If a printed message continues below (its line ends with a colon or a comma), also read it as one line."""
        assert self._open is not None
        first, count = self._open
        self._open = None
        if (
            line.number != first.number + count
            or (line.file, line.stream) != (first.file, first.stream)
            or not line.text
        ):
            return
        text = f"{first.text} {line.text.lstrip()}"
        joined = Line(text, first.number, first.stream, first.rank, first.file, first.stamped)
        if line.text[-1] in ":," and count + 1 < MAX_JOINED_LINES and len(text) <= MAX_JOINED_CHARACTERS:
            self._open = joined, count + 1
        joined.folded = fold(text)
        for number in self._scanner.literals(joined.folded):
            kept = self.observations.hits.setdefault(number, [])
            if len(kept) < MAX_LINES_PER_LITERAL:
                kept.append(joined)

    def _read_tracebacks(self, *, passed_over: bool = False) -> None:
        """Read the exceptions of all streams, because no later line belongs to them.

        If lines were passed over, a traceback without its last line was cut by us, so it is not observed.
        """
        short = self._fed <= SHORT_PASTE_LINES and not passed_over
        for lines in self._streams.values():
            lines = strip_words_around(lines) if short else lines
            found = [failure for failure in parse(lines) if failure.exception or not passed_over]
            self._take_part(lines, found)
        self._streams.clear()

    def _take_part(self, lines: list[Line], failures: list[Failure]) -> None:
        if self._parts is not None:
            self._parts.append(StreamPart(lines, failures))
        self._take(failures)

    def _take(self, failures: list[Failure]) -> None:
        """Add exceptions. One that another rank printed too, or that was printed again, is only counted."""
        for failure in failures:
            frame = failure.frames[-1] if failure.frames else None
            place = f"{frame.file}:{frame.line}" if frame else ""
            message = mask_numbers(fold(failure.message)[:MAX_MESSAGE_CHARACTERS])
            said = (failure.exception, message)
            # Without its frames (a cut paste, a logger's line) it is the one that was seen with them.
            known = self._by_frame.get((*said, place)) or self._by_message.get(said if not frame else (*said, "bare"))
            if known is not None:
                _repeat(known, failure)
                if frame and not known.frames:
                    known.frames, known.start, known.cut = failure.frames, failure.start, failure.cut
                    known.layout = failure.layout
                    self._by_frame[(*said, place)] = known
                    self._by_message.pop((*said, "bare"), None)
                continue
            if len(self._by_frame) >= MAX_FAILURES:
                continue
            failure.seen_at = dict.fromkeys(failure.ranks, failure.line.number)
            self._by_frame[(*said, place)] = failure
            self._by_message[said] = failure
            if not frame:
                self._by_message[(*said, "bare")] = failure
            self.observations.failures.append(failure)
            self._scan_message(failure)

    def _scan_message(self, failure: Failure) -> None:
        """Scan a message of several lines for literals that a line break hides from the scan by line."""
        if "\n" not in failure.message:
            return
        hits = self.observations.hits
        for text in failure.folded[1:]:
            for number in self._scanner.literals(text):
                if number not in hits:
                    hits[number] = [failure.line]


def _repeat(known: Failure, failure: Failure) -> None:
    """Count an exception that was seen before."""
    known.repeated += 1
    known.last = failure.line
    known.ranks |= failure.ranks
    for rank in failure.ranks:
        known.seen_at.setdefault(rank, failure.line.number)
    if len(known.streams) < MAX_STREAMS:
        known.streams |= failure.streams
