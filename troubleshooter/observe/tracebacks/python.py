"""Python's own tracebacks, with or without a header, also if other output is mixed between their lines."""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.observe.model import Frame, Layout
from troubleshooter.observe.tracebacks.cursor import Cursor
from troubleshooter.observe.tracebacks.frames import (
    ARROW,
    HEADER,
    MAX_FRAMES,
    PYTHON_FRAME,
    FramePosition,
    frame_position,
    is_decoration,
    keep_around,
)  # fmt: skip
from troubleshooter.observe.tracebacks.messages import ALONE, LAST_LINE, NEW_EXCEPTION, is_type_name
from troubleshooter.read.line import Line
from troubleshooter.read.text import BAR

AROUND = lazy.compile(r"\s{0,12}\d{1,9}(?=\s|$)")
MAX_FOREIGN_LINES = 8
"""At most this many lines of other output in a row (bars, warnings of other threads) may be mixed into a traceback."""
ARROW_LINES = 7
"""A frame without a number has its arrow within this many lines."""
MAX_SHOWN = 6
"""At most this many lines of code and marks are kept below a frame."""
TABLE_LINES = 6
"""Lines of torch elastic's table above its traceback."""

NUMBERED = lazy.compile(r"\s{0,12}\d{1,9}\s(?!File)")
"""A line of code with its number, as IPython shows it."""
# Torch elastic's table of failures:   rank      : 1 (local_rank: 1)   …   traceback : Traceback (most recent call last):
_TABLE_TRACEBACK = lazy.compile(r"\s*traceback\s*: Traceback \(most recent")
_TABLE_RANK = lazy.compile(r"\s*rank\s*: (?P<rank>\d{1,5})\b")


def starts_without_header(cursor: Cursor) -> bool:
    """Whether the next line is a frame of a traceback whose header was cut off, not a lone mention of a file."""
    text = cursor.text()
    position = frame_position(text)
    if position is None:
        return False
    if PYTHON_FRAME.match(text):
        return bool(position.function) or cursor.at + 1 < len(cursor.lines)
    if text.startswith(("File ", "Cell In", "Input In")):
        return True
    return any(ARROW.match(line.text) for line in cursor.following(ARROW_LINES))


def rank_of_table(cursor: Cursor) -> int | None:
    """The rank that torch elastic's table names, if the next line is the ``traceback :`` of such a table; else None."""
    text = cursor.text()
    if not text.lstrip().startswith("traceback") or not _TABLE_TRACEBACK.match(text):
        return None
    for line in reversed(cursor.lines[max(0, cursor.at - TABLE_LINES) : cursor.at]):
        if found := _TABLE_RANK.match(line.text):
            return int(found["rank"])
    return None


def _keep_numbered(frame: Frame, text: str) -> None:
    """Keep a numbered line of code that stands above or below the line of a notebook's frame."""
    numbered = AROUND.match(text)
    if numbered is not None:
        keep_around(frame, text[numbered.end() :])
    elif not frame.shown:
        frame.above = ()  # "(...)": what stands above does not belong to what follows


class PythonTraceback:
    """One traceback: `read` moves the cursor from its first frame behind its message and adds the exception."""

    layout: Layout = "python"

    def __init__(self, cursor: Cursor, start: int, *, cut: bool = False) -> None:
        """``start``: index of its first line (the header, if it has one). ``cut``: whether it has no header."""
        self.cursor = cursor
        self.start = start
        self.cut = cut
        self.frames: list[Frame] = []
        self.foreign = 0
        """Lines of other output since the last frame."""
        self.indented: bool | None = None
        """Whether ``File`` lines are indented; False for a paste that lost its indent, None before the first frame."""
        self._needs_number = False  # the last frame's line number stands at an arrow
        self._indent_seen = self._file_indent = 0  # lines searched for frames, and how far the last frame is indented

    def read(self) -> None:
        """Read to the line that names the exception, or to where the traceback breaks off."""
        cursor = self.cursor
        while cursor.at < len(cursor.lines):
            line = cursor.lines[cursor.at]
            text = line.text
            if is_decoration(text):
                self._keep(text)
            elif HEADER in text and cursor.at > self.start:
                break
            elif self._take_frame(line) or self._take_arrow(text):
                pass
            elif last := self.last_line(text):
                message = last["message"] or ""
                cursor.add_exception(self.layout, self.start, last["type"], message, self.frames, cut=self.cut)
                return
            elif self._is_source(text):
                self._keep(text)
            else:
                self.foreign += 1
                if self.foreign > MAX_FOREIGN_LINES or not self._more_follows():
                    break
            cursor.at += 1
        self._break_off()

    def is_frame(self, text: str, position: FramePosition | None) -> bool:
        """Whether a line that looks like a frame is one, not code: code is deeper than the ``File`` lines."""
        return position is not None and not (self.indented and not text.lstrip().startswith('File "'))

    def is_code(self, text: str) -> bool:
        """Whether a line is code that is shown below a frame."""
        return text[0] in " \t" or NUMBERED.match(text) is not None

    def shows_more(self, text: str) -> bool:
        """Whether a line below other output shows that this traceback goes on."""
        return bool(PYTHON_FRAME.match(text) or NEW_EXCEPTION.match(text))

    def last_line(self, text: str) -> re.Match[str] | None:
        """The match of `LAST_LINE` if the line names the exception that was raised; else None."""
        if not self.frames and HEADER not in self.cursor.text(-1):
            return None
        bare = text.strip()
        found = LAST_LINE.match(bare)
        if found is None or ("%|" in text and BAR.match(text)):
            return None
        indent = len(text) - len(text.lstrip())
        if indent and self.indented:
            # The whole traceback is indented: its last line stands left of its "File" lines, or below them in a paste that
            # lost the blanks of one of the two.
            file = self._indent_of_last_frame()
            ends = indent <= file and bool(ALONE.match(bare) or (indent < file and NEW_EXCEPTION.match(bare)))
        elif indent and self.indented is None:
            ends = False
        elif self.indented is False:
            # Code stands as far left as the last line: only a bare name that begins with a capital is no code.
            is_name = found["message"] is None and "(" not in bare and bare.rpartition(".")[2][:1].isupper()
            ends = bool(is_name or NEW_EXCEPTION.match(bare) or ALONE.match(bare))
        else:
            ends = is_type_name(found["type"])
        return found if ends else None

    def _take_frame(self, line: Line) -> bool:
        position = frame_position(line.text)
        if position is None or not self.is_frame(line.text, position):
            return False
        if self.indented is None and line.text.lstrip().startswith(('File "', "File /")):
            self.indented = line.text.startswith(" ")
        if self.cut and not self.frames and position.form not in ("python", "unquoted"):
            self.layout = "notebook"
        if len(self.frames) < MAX_FRAMES:
            self.frames.append(Frame(position.file, position.line, position.function, line))
        self._needs_number, self.foreign = position.line == 0, 0
        return True

    def _take_arrow(self, text: str) -> bool:
        """Take the line number of the last frame from the arrow at its code."""
        arrow = ARROW.match(text) if text[0] == "-" else None
        if arrow and self.frames:
            self.frames[-1].shown = (text[arrow.end() :],)
        if arrow and self.frames and (self._needs_number or self.frames[-1].line == 0):
            self.frames[-1].line, self._needs_number = int(arrow["line"]), False
        return arrow is not None

    def _keep(self, text: str) -> None:
        """Keep a line of code or of marks that stands right below a frame, or around the arrow of a notebook."""
        if not self.frames:
            return
        frame = self.frames[-1]
        if self.layout == "notebook":
            _keep_numbered(frame, text)
        elif self.foreign <= (not self.indented) and self.layout == "python" and len(frame.shown) < MAX_SHOWN:
            frame.shown += (text,)

    def _is_source(self, text: str) -> bool:
        if self.is_code(text):
            return True
        if self.indented is False and self.foreign == 0:
            self.foreign = 1  # one line below a frame is its code, in a paste that lost its indent
            return True
        return False

    def _more_follows(self) -> bool:
        """Whether the next lines show a frame or the exception, so that what stands between is other output."""
        for line in self.cursor.following(MAX_FOREIGN_LINES):
            if HEADER in line.text:
                return False
            if self.shows_more(line.text):
                return True
        return False

    def _break_off(self) -> None:
        cursor = self.cursor
        # Frames within a message ("from user code:") are no failure.
        if self.frames and not (self.cut and self.start == cursor.message_end):
            cursor.add_cut_off(self.layout, self.start, self.frames)
        elif cursor.at == self.start:
            cursor.at += 1

    def _indent_of_last_frame(self) -> int:
        """How far the last frame above is indented. Each line is looked at once, however often this is asked."""
        for line in self.cursor.lines[self._indent_seen : self.cursor.at]:
            bare = line.text.lstrip()
            if bare.startswith('File "'):
                self._file_indent = len(line.text) - len(bare)
        self._indent_seen = max(self._indent_seen, self.cursor.at)
        return self._file_indent
