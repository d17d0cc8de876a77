"""The traceback parser: lines of one stream → exceptions with their frames, whatever the layout and the cut.

Layouts: Python's own, chained and grouped, IPython / Jupyter / Colab, Rich's boxes; with bars, warnings or other output
in between; with the header, the frames or the last line missing. A message alone is a failure without frames.
"""

from __future__ import annotations

import re
from itertools import pairwise

from troubleshooter.observe import layouts
from troubleshooter.observe.endings import NEW_EXCEPTION, end
from troubleshooter.observe.mend import mend
from troubleshooter.observe.model import Failure, Frame
from troubleshooter.read.line import Line
from troubleshooter.read.text import BAR

NOISE = 8
"""Foreign lines in a row that a traceback survives (bars, warnings of other threads)."""
FRAMES = 200
BOX = 400
"""Lines of a box that a paste may begin in."""
REACH = 400
"""Lines that a traceback with its message may be long and still be read whole across two parts of a log."""


def parse(lines: list[Line]) -> list[Failure]:
    """All exceptions that the lines of one stream show, in their order; chained ones are linked by ``cause``."""
    return _Parser(mend(lines)).run()


def parse_part(lines: list[Line]) -> tuple[list[Failure], int]:
    """The exceptions of a part of a stream, and from where its lines must be given again with what follows.

    What ends within `REACH` lines of the part's end may go on in the next part.
    """
    parser = _Parser(mend(lines))
    found = parser.run(stop=max(0, len(lines) - REACH))
    return found, parser.i


class _Parser:
    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        self.i = 0
        self.found: list[Failure] = []
        self.link = False
        self.teardown = False
        self.rank: int | None = None
        self.ended = -1  # where the last message ended
        self.no_box = 0  # before this line no box that began above goes on
        self.indent = 0, 0  # lines that were looked at for frames, and how far the last frame is indented

    def run(self, stop: int | None = None) -> list[Failure]:
        """Read exceptions that start before line ``stop`` (all of them without it)."""
        while self.i < (len(self.lines) if stop is None else stop):
            text = self.lines[self.i].text
            if not text:
                self.i += 1
            elif layouts.HEADER in text:
                self._headed()
            elif text[0] == "│" and self.i >= self.no_box and self._in_box():
                self._box(cut=True)
            elif layouts.CHAIN_CAUSE in text or layouts.CHAIN_CONTEXT in text:
                self.link = bool(self.found)
                self.i += 1
            elif text == "Call stack:":
                self._skip_call_stack()
            elif text[0] in "E\u53d1" and (occurred := layouts.OCCURRED.match(text)):
                self._occurred(occurred["type"])
            elif ('File "' in text or ".py" in text) and self._starts_frames(text):
                self._frames(self.i, cut=True)
            elif (text[0].isalpha() or text[0] == "_") and (alone := layouts.ALONE.match(text)):
                self._alone(alone["type"], alone["inner"], alone["message"] or "")
            else:
                self.teardown = text.startswith(("Exception ignored in", "Error in atexit"))
                if self.teardown:
                    self._skip_teardown_head()
                self.i += 1
        return self.found

    # --- where an exception starts ---

    def _headed(self) -> None:
        line = self.lines[self.i]
        bare = line.text.strip()
        if bare[0] in "╭┌+" and layouts.BOX_TOP.match(line.text):
            self._box()
            return
        notebook = None if bare.startswith(layouts.HEADER) else layouts.NOTEBOOK_HEADER.match(bare)
        start = self.i
        self.rank = self._rank_of_table()
        self.i += 1
        if notebook and not self._plain_follows():  # not "Original Traceback (most recent call last)"
            self._frames(start, kind=notebook["type"])
        else:
            self._frames(start)

    def _plain_follows(self) -> bool:
        """Whether the frames below a header are Python's own, not a notebook's."""
        following = (line.text for line in self.lines[self.i : self.i + 4] if line.text.strip())
        return layouts.PLAIN.match(next(following, "")) is not None

    def _rank_of_table(self) -> int | None:
        """The rank that the table of torch elastic names above its ``traceback :``."""
        text = self.lines[self.i].text
        if not text.lstrip().startswith("traceback") or not layouts.TABLE_TRACEBACK.match(text):
            return None
        for line in reversed(self.lines[max(0, self.i - 6) : self.i]):
            if found := layouts.TABLE_RANK.match(line.text):
                return int(found["rank"])
        return None

    def _starts_frames(self, text: str) -> bool:
        """A frame with no header above it: the paste's start is cut. A lone mention of a file is none."""
        place = layouts.frame(text)
        if place is None:
            return False
        if layouts.PLAIN.match(text):
            return bool(place.function) or self.i + 1 < len(self.lines)
        return text.startswith(("File ", "Cell In", "Input In")) or self._arrow_follows()

    def _arrow_follows(self) -> bool:
        return any(layouts.ARROW.match(line.text) for line in self.lines[self.i + 1 : self.i + 8])

    def _skip_teardown_head(self) -> None:
        """``Exception ignored in: <function …>`` may wrap onto lines before its traceback."""
        for ahead in range(self.i + 1, min(self.i + 3, len(self.lines))):
            if layouts.HEADER in self.lines[ahead].text:
                self.i = ahead - 1
                return

    def _skip_call_stack(self) -> None:
        """What `logging` prints below its own error: where the record was made, which is no failure."""
        self.i += 1
        while self.i < len(self.lines) and self.lines[self.i].text.startswith((" ", "Message: ", "Arguments: ")):
            self.i += 1

    def _alone(self, type_: str, inner: str | None, first: str) -> None:
        line = self.lines[self.i]
        if inner:
            type_ = f"{type_}({inner})"
        self._ending(self.i, self.i, type_, first, [], cut=True)
        self.found[-1].start = line

    # --- frames of a traceback ---

    def _frames(self, start: int, *, cut: bool = False, kind: str | None = None) -> None:
        """Read frames from ``self.i`` to the line that names the exception. ``kind``: the type from a notebook's header."""
        frames: list[Frame] = []
        pending = False  # the last frame's line number comes with an arrow
        noise = 0
        indented: bool | None = None
        while self.i < len(self.lines):
            text = self.lines[self.i].text
            bare = text.strip()
            if not bare or (bare[0] in "~^[" and (layouts.CARETS.match(text) or layouts.REPEATED.match(text))):
                self.i += 1
                continue
            if layouts.HEADER in text and self.i > start:
                break
            place = layouts.frame(text)
            if place is not None and (kind or not _source_like(text, indented)):
                if indented is None and bare.startswith(('File "', "File /")):
                    indented = text.startswith(" ")
                if len(frames) < FRAMES:
                    frames.append(Frame(place.file, place.line, place.function, self.lines[self.i]))
                pending, noise = place.line == 0, 0
                self.i += 1
                continue
            if text[0] == "-" and (arrow := layouts.ARROW.match(text)):
                if frames and (pending or frames[-1].line == 0):
                    frames[-1].line, pending = int(arrow["line"]), False
                self.i += 1
                continue
            if self._is_ending(text, frames, kind, indented):
                found = layouts.ENDING.match(text.strip())
                assert found is not None
                self._ending(start, self.i, found["type"], found["message"] or "", frames, cut=cut)
                return
            if text[0] in " \t" or layouts.NUMBERED.match(text) or (kind and _notebook_code(text)):
                self.i += 1  # source of a frame
                continue
            if indented is False and noise == 0:
                noise = 1  # the source of a frame in a paste that lost its indent
                self.i += 1
                continue
            noise += 1
            if noise > NOISE or not self._more_follows(kind):
                break
            self.i += 1
        if frames and not (cut and start == self.ended):  # frames in a message ("from user code:") are no failure
            last = self.lines[min(self.i, len(self.lines)) - 1]
            self._add(Failure("", "", frames, last, self.lines[start], cut=True))
        elif self.i == start:
            self.i += 1

    def _is_ending(self, text: str, frames: list[Frame], kind: str | None, indented: bool | None) -> bool:
        if kind is not None:
            found = layouts.ENDING.match(text)
            return found is not None and found["type"].rpartition(".")[2].partition("(")[0] == kind.rpartition(".")[2]
        if not frames and layouts.HEADER not in self.lines[self.i - 1].text:
            return False
        bare = text.strip()
        found = layouts.ENDING.match(bare)
        if found is None or ("%|" in text and BAR.match(text)):
            return False
        own = len(text) - len(text.lstrip())
        if own and indented:
            # A traceback that stands indented as a whole: its last line is left of its "File" lines, or with them where the
            # paste lost the blanks of one of the two.
            file = self._file_indent()
            return own <= file and bool(layouts.ALONE.match(bare) or (own < file and NEW_EXCEPTION.match(bare)))
        if own and indented is None:
            return False
        if indented is False:
            # A bare name; what is called is code.
            named = found["message"] is None and "(" not in bare and bare.rpartition(".")[2][:1].isupper()
            return bool(named or NEW_EXCEPTION.match(bare) or layouts.ALONE.match(bare))
        return _type_like(found["type"])

    def _file_indent(self) -> int:
        """How far the last frame above is indented. Each line is looked at once, however often this is asked."""
        seen, indent = self.indent
        for at in range(seen, self.i):
            bare = self.lines[at].text.lstrip()
            if bare.startswith('File "'):
                indent = len(self.lines[at].text) - len(bare)
        self.indent = max(seen, self.i), indent
        return indent

    def _more_follows(self, kind: str | None) -> bool:
        """A frame or the exception's line stands a few lines ahead: what is between is other output."""
        for line in self.lines[self.i + 1 : self.i + 1 + NOISE]:
            text = line.text
            if layouts.HEADER in text:
                return False
            if layouts.PLAIN.match(text) or (kind and layouts.frame(text)) or NEW_EXCEPTION.match(text):
                return True
        return False

    # --- VS Code's debugger ---

    def _occurred(self, type_: str) -> None:
        """The message and the frames below a line that names the type; a debugger may leave out frames of libraries."""
        start, lines = self.i, self.lines
        stop = end(lines, start + 1) if start + 1 < len(lines) else start + 1
        while self.i + 1 < stop and not lines[self.i + 1].text.lstrip().startswith('File "'):
            self.i += 1
        message = "\n".join(line.text for line in lines[start + 1 : self.i + 1]).strip()
        self.i += 1
        frames: list[Frame] = []
        code: list[str] = []  # of each frame
        while self.i < len(lines) and (
            not (text := lines[self.i].text) or text[0] in " \t" or layouts.PLAIN.match(text)
        ):
            if (place := layouts.PLAIN.match(text)) is not None and len(frames) < FRAMES:
                frames.append(Frame(place["file"], int(place["line"]), place["function"] or "", lines[self.i]))
                code.append("")
            elif code:
                code[-1] += text
            self.i += 1
        if _outward(frames, code):
            frames.reverse()
        again = layouts.ENDING.match(lines[self.i].text) if self.i < len(lines) else None
        if again and again["type"].endswith(type_.rpartition(".")[2]) and (again["message"] or "") in message:
            self.i = end(lines, self.i)
        at = lines[start + 1] if message else lines[start]
        self._add(Failure(type_, message, frames, at, lines[start], cut=True))

    # --- Rich's box ---

    def _in_box(self) -> bool:
        """Whether a box goes on here of which the paste lacks the top, and the exception stands below it."""
        for at in range(self.i, min(self.i + BOX, len(self.lines))):
            text = self.lines[at].text
            self.no_box = at + 1  # each line is looked at once
            if layouts.BOX_END.match(text):
                return at + 1 < len(self.lines) and layouts.ALONE.match(self.lines[at + 1].text) is not None
            if not text.startswith("│"):
                return layouts.ALONE.match(text) is not None  # its bottom is lacking, too
        return False

    def _box(self, *, cut: bool = False) -> None:
        start = self.i
        self.i += not cut
        frames: list[Frame] = []
        held = ""
        while self.i < len(self.lines):
            raw = self.lines[self.i].text
            if layouts.BOX_END.match(raw):
                self.i += 1
                break
            found = layouts.BOX_LINE.match(raw)
            if found is None:
                if layouts.ENDING.match(raw) and NEW_EXCEPTION.match(raw):
                    break
                self.i += 1
                continue
            self.i += 1
            inner = _inner(raw)
            if not inner.strip() or layouts.BOX_CODE.match(inner) or inner.lstrip()[:1] in "╭╰│":
                held = ""
                continue
            held += f" {inner}" if held.endswith(" in") else inner
            place = layouts.frame(held.strip())
            if place is not None and place.line:
                if frames and held != inner and frames[-1].line == place.line:
                    # The name went on in the next box line.
                    frames[-1] = Frame(place.file, place.line, place.function, frames[-1].seen)
                elif len(frames) < FRAMES:
                    frames.append(Frame(place.file, place.line, place.function, self.lines[self.i - 1]))
        while self.i < len(self.lines) and not self.lines[self.i].text.strip():
            self.i += 1
        if self.i < len(self.lines) and (found := layouts.ENDING.match(self.lines[self.i].text.strip())):
            self._ending(start, self.i, found["type"], found["message"] or "", frames, cut=cut)
        elif frames:
            self._add(Failure("", "", frames, self.lines[self.i - 1], self.lines[start], cut=True))

    # --- the exception itself ---

    def _ending(self, start: int, at: int, type_: str, first: str, frames: list[Frame], *, cut: bool = False) -> None:
        key = type_ == "KeyError" and first[:1] in ("'", '"') and first.rstrip()[1:].endswith(first[0])
        stop = at + 1 if key else end(self.lines, at)  # a key is printed on one line
        parts = [first.rstrip()] if first.strip() else []
        below = tuple(self.lines[at + 1 : stop])
        parts += [line.text for line in below]
        self.i = self.ended = max(stop, at + 1)
        message = "\n".join(parts).strip()
        self._add(Failure(type_, message, frames, self.lines[at], self.lines[start], cut=cut, below=below))

    def _add(self, failure: Failure) -> None:
        if self.teardown:
            failure.role = "teardown"
        if self.link and self.found:
            failure.cause = self.found[-1]
        rank = failure.line.rank if self.rank is None else self.rank
        if rank is not None:
            failure.ranks.add(rank)
        failure.streams.add(failure.line.stream)
        self.link = self.teardown = False
        self.rank = None
        self.found.append(failure)


def _outward(frames: list[Frame], code: list[str]) -> bool:
    """Whether the innermost frame stands first, as it does in newer debuggers: told by which line calls the frame beside it."""
    if frames and frames[0].function == "<module>":
        return False
    inward = 0
    for i, (upper, lower) in enumerate(pairwise(frames)):
        inward += _calls(code[i], lower) - _calls(code[i + 1], upper)
    return inward <= 0


def _calls(code: str, frame: Frame) -> bool:
    return re.search(rf"\b{re.escape(frame.function)}\(", code) is not None


def _inner(raw: str) -> str:
    """What stands between the sides of a box line, its full width kept: a path that fills it goes on below."""
    text = raw.lstrip()[1:]
    text = text[1:] if text.startswith(" ") else text
    if text.endswith(("│", "|")):
        text = text[:-1]
        text = text[:-1] if text.endswith(" ") else text
    return text.rstrip() if text.endswith("  ") else text


def _source_like(text: str, indented: bool | None) -> bool:
    """Code that only looks like a frame: deeper than the ``File`` lines and not one of them."""
    return bool(indented) and not text.lstrip().startswith('File "')


def _notebook_code(text: str) -> bool:
    return text.startswith(("(...)", "...", "[...", "   ")) or text[0].isdigit()


def _type_like(type_: str) -> bool:
    """Exceptions begin with a capital, or are dotted; ``else:`` and ``loss: Tensor = …`` are source."""
    last = type_.rpartition(".")[2]
    return "." in type_ or last[:1].isupper() or last in ("timeout", "gaierror", "error", "herror")
