"""Lines in, observations out: every reader sees every line once, and streams are taken apart for tracebacks."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from kb import lazy
from troubleshooter.observe import ended, phases, process
from troubleshooter.observe.facts import FactReader
from troubleshooter.observe.marks import EXITS, FACTS, METRICS, PHASES, WELL
from troubleshooter.observe.metrics import MetricReader
from troubleshooter.observe.model import Failure, Observations, Progress
from troubleshooter.observe.tracebacks.frames import HEADER
from troubleshooter.observe.tracebacks.normalize import SHORT_PASTE_LINES, strip_words_around
from troubleshooter.observe.tracebacks.parser import parse, parse_part
from troubleshooter.read.line import GAP, Line, Shape
from troubleshooter.read.scanner import Scanner
from troubleshooter.read.text import fold

HITS = 48
"""Lines that are kept of those that hold one literal: the first and the last; all are counted."""
FAILURES = 2000
PART = 4000
JOINED = 600
"""Characters of a printed message that goes on on the next line."""
SAME_KIND = 12
"""Lines of one kind that are read for facts: a repeated warning shows none that the first did not."""
SIGHTS = 8
"""A shape that is met so often is met more often: what it holds is kept."""

_NO_DIGITS = str.maketrans("", "", "0123456789")

_VOLATILE = lazy.compile(r"0x[0-9a-fA-F]+|\d+")


def _goes_on(text: str) -> bool:
    """Whether a printed message may go on below; a traceback's header introduces no message."""
    return text[0].isalpha() and len(text) <= JOINED and HEADER not in text


class Observer:
    """Feed it lines in the order of the log, then `finish`."""

    def __init__(self, scanner: Scanner) -> None:
        self.observations = Observations()
        self._scanner = scanner
        self._metrics = MetricReader(self.observations)
        self._facts = FactReader(self.observations)
        self._streams: dict[str, list[Line]] = {}
        self._known: dict[tuple[str, str, str], Failure] = {}
        self._said: dict[tuple[str, ...], Failure] = {}
        self._kinds: dict[str, int] = {}
        self._open: tuple[Line, int] | None = None  # a line that goes on below, and how many lines it is by now
        self._fed = 0
        self._kept_to = PART
        self._tails: dict[int, deque[Line]] = {}  # by file: its last lines with text

    def feed(self, lines: Iterable[Line]) -> None:
        """Observe some lines; memory stays bounded however many there are."""
        metrics, first_mark = self._metrics, self._scanner.first_mark
        scan = self._scanner.scan
        streams, hits, routes = self._streams, self.observations.hits, self._scanner.routes
        tail: deque[Line] = deque(maxlen=ended.TAIL)
        for line in lines:  # what stands in this loop is not called but written out: it runs for every line
            if line is GAP:
                self._flush(passed_over=True)
                continue
            text = line.text
            self._fed += 1
            if self._fed >= self._kept_to:
                self._keep_few()
            name = f"{line.file} {line.stream}" if line.file else line.stream
            stream = streams.get(name)
            if stream is None:
                stream = streams[name] = []
            stream.append(line)
            if len(stream) > PART:
                found, rest = parse_part(stream)
                self._take(found)
                streams[name] = stream[rest:]
            if self._open is not None:
                self._join(line)
            if not text:
                continue
            tail.append(line)
            if line.stream:
                self._facts.stream(line)
            shape = line.shape
            if shape is not None and shape.numbers is not None:
                numbers, readers = shape.numbers, shape.readers
                if numbers or shape.suspects:
                    line.folded = text if shape.plain else fold(text)
                if shape.suspects:
                    lower = line.folded.encode("utf-8", "replace").lower()
                    for number, word in shape.suspects:
                        if word in lower:
                            readers |= routes[number]
                            numbers = [*numbers, number]
            else:
                plain = text.isascii() and "  " not in text and "\t" not in text and text[0] != " "
                line.folded = text if plain else fold(text)
                numbers = scan(line.folded.encode("utf-8", "replace"))
                readers = 0
                for number in numbers:
                    readers |= routes[number]
                if shape is not None:
                    shape.sights += 1
                    if shape.sights == SIGHTS:
                        self._learn(shape, line, plain, numbers)
            for number in numbers:
                if number < first_mark:
                    if number in hits:
                        hits[number].append(line)
                    else:
                        hits[number] = [line]
            if (readers & METRICS or metrics.inside) and metrics.read(line):
                if readers & WELL and process.well(text):  # what a run says of itself at its end
                    self._progress(line.file).well = line.number
                elif metrics.ran:
                    self._progress(line.file).steps.append(line.number)
            elif readers:
                if readers >= FACTS and self._fresh(line):
                    self._facts.read(line, readers // FACTS)
                if readers & EXITS:
                    process.read(line, self.observations)
                if readers & WELL:
                    if process.well(text):
                        self._progress(line.file).well = line.number
                    elif process.installed(text):
                        self._progress(line.file).installed = line.number
            if text[-1] in ":," and self._open is None and _goes_on(text):
                self._open = line, 1
            announced = readers % FACTS // PHASES
            if announced and (phase := phases.of_line(text, announced)) is not None:
                self._phase(phase, line)
        if tail:
            self._tails[tail[-1].file] = tail

    def finish(self) -> Observations:
        """Everything that was observed; the observer is used up."""
        self._flush()
        self._keep_few()
        seen = self.observations
        seen.failures.sort(key=lambda f: (f.line.file, f.line.number))
        for failure in seen.failures:
            failure.role = process.role(failure)
            if failure.role == "initiating" and seen.outlived(failure):
                failure.role = "handled"
        seen.lines = self._fed
        seen.ending = ended.of_run(ended.ending([*tail], self._trains(file)) for file, tail in self._tails.items())
        return seen

    def _trains(self, file: int) -> bool:
        """Whether a file shows a training: records of it, or its announcement."""
        progress = self.observations.progress.get(file)
        announced = any(phase == "train" and line.file == file for phase, line in self.observations.phases)
        return announced or (progress is not None and progress.steps[-1] > 0)

    def _keep_few(self) -> None:
        """Of the lines that hold one literal keep `HITS`, every `PART` lines."""
        self._kept_to = self._fed + PART
        for kept in self.observations.hits.values():
            if len(kept) > HITS:
                del kept[HITS // 2 : len(kept) - HITS // 2]

    def _progress(self, file: int) -> Progress:
        known = self.observations.progress.get(file)
        if known is None:
            known = self.observations.progress[file] = Progress()
        return known

    def _join(self, line: Line) -> None:
        """A printed message that goes on below (its line ends with a colon or a comma) is also seen as one line."""
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
        whole = Line(text, first.number, first.stream, first.rank, first.file, first.stamped)
        if line.text[-1] in ":," and count < 3 and len(text) <= JOINED:
            self._open = whole, count + 1
        whole.folded = fold(text)
        hits = self.observations.hits
        for number in self._scanner.scan(whole.folded.encode("utf-8", "replace")):
            if number < self._scanner.first_mark:
                kept = hits.setdefault(number, [])
                if len(kept) < HITS:
                    kept.append(whole)

    def _flush(self, *, passed_over: bool = False) -> None:
        """Read the exceptions of all streams: nothing that follows belongs to them.

        A traceback without its last line, where we passed over what follows, is our own cut and no observation.
        """
        short = self._fed <= SHORT_PASTE_LINES and not passed_over
        for lines in self._streams.values():
            self._take(
                [f for f in parse(strip_words_around(lines) if short else lines) if f.exception or not passed_over]
            )
        self._streams.clear()

    def _learn(self, shape: Shape, line: Line, plain: bool, numbers: list[int]) -> None:
        """What this line holds, all of its shape hold, but for literals with digits."""
        text = line.folded.encode("utf-8", "replace")
        shape.suspects = self._scanner.suspects(text)
        with_digits = {number for number, _ in shape.suspects}
        shape.kind = line.text[:160].translate(_NO_DIGITS)
        shape.plain = plain
        told = [number for number in numbers if number not in with_digits]
        for number in told:
            shape.readers |= self._scanner.routes[number]
        shape.numbers = [number for number in told if number < self._scanner.first_mark]

    def _fresh(self, line: Line) -> bool:
        """Whether a line of this kind (its text without digits) was not read for facts several times already."""
        kind = (line.shape.kind if line.shape else "") or line.text[:160].translate(_NO_DIGITS)
        count = self._kinds.get(kind, 0)
        if count < SAME_KIND and len(self._kinds) < 50_000:
            self._kinds[kind] = count + 1
        return count < SAME_KIND

    def _phase(self, phase: str, line: Line) -> None:
        known = self.observations.phases
        if known and known[-1][0] == phase:
            known[-1] = (phase, line)
        elif len(known) < 500:
            known.append((phase, line))

    def _take(self, failures: list[Failure]) -> None:
        """Add exceptions; the same one of another rank, or printed again, is counted."""
        for failure in failures:
            frame = failure.frames[-1] if failure.frames else None
            place = f"{frame.file}:{frame.line}" if frame else ""
            said = (failure.exception, _VOLATILE.sub("0", fold(failure.message)[:400]))
            # Without its frames (a cut paste, a logger's line) it is the one that was seen with them.
            known = self._known.get((*said, place)) or self._said.get(said if not frame else (*said, "bare"))
            if known is not None:
                known.repeated += 1
                known.last = failure.line
                known.ranks |= failure.ranks
                for rank in failure.ranks:
                    known.seen_at.setdefault(rank, failure.line.number)
                if len(known.streams) < 4096:
                    known.streams |= failure.streams
                if frame and not known.frames:
                    known.frames, known.start, known.cut = failure.frames, failure.start, failure.cut
                    self._known[(*said, place)] = known
                    self._said.pop((*said, "bare"), None)
                continue
            if len(self._known) >= FAILURES:
                continue
            failure.seen_at = dict.fromkeys(failure.ranks, failure.line.number)
            self._known[(*said, place)] = failure
            self._said[said] = failure
            if not frame:
                self._said[(*said, "bare")] = failure
            self.observations.failures.append(failure)
            self._scan_message(failure)

    def _scan_message(self, failure: Failure) -> None:
        """A message of several lines: literals that a line break hides from the scan by line."""
        if "\n" not in failure.message:
            return
        for text in failure.folded[1:]:
            for number in self._scanner.scan(text.encode("utf-8", "replace")):
                seen = self.observations
                if number < self._scanner.first_mark and number not in seen.hits:
                    seen.hits[number] = [failure.line]
