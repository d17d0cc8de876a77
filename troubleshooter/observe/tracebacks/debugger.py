"""The layout of VS Code's debugger: a line with the exception's type, the message below it, then the frames.

The debugger may leave out frames of libraries, and its newer versions show the innermost frame first.
"""

from __future__ import annotations

import re
from itertools import pairwise

from kb import lazy
from troubleshooter.observe.model import Failure, Frame
from troubleshooter.observe.tracebacks.cursor import Cursor
from troubleshooter.observe.tracebacks.frames import MAX_FRAMES, PYTHON_FRAME
from troubleshooter.observe.tracebacks.messages import LAST_LINE, message_end
from troubleshooter.read.line import Line

_OCCURRED = lazy.compile(
    r"(?:Exception has occurred|\u53d1\u751f\u5f02\u5e38)[:\uff1a] ?(?P<type>[A-Za-z_][\w.]{0,200})(?:\s+\(note: .*\))?\s*$"
)
_FIRST_CHARACTERS = "E\u53d1"


def type_of(text: str) -> str | None:
    """The type that a debugger's first line names; None for another line."""
    found = _OCCURRED.match(text) if text[:1] in _FIRST_CHARACTERS else None
    return found["type"] if found else None


def read(cursor: Cursor, type_: str) -> None:
    """Read the message and the frames below the debugger's first line."""
    start, lines = cursor.at, cursor.lines
    stop = message_end(lines, start + 1) if start + 1 < len(lines) else start + 1
    while cursor.at + 1 < stop and not cursor.text(1).lstrip().startswith('File "'):
        cursor.at += 1
    below = lines[start + 1 : cursor.at + 1]
    message = "\n".join(line.text for line in below).strip()
    cursor.at += 1
    frames = _read_frames(cursor)
    again = LAST_LINE.match(cursor.text()) if cursor.at < len(lines) else None
    if again and again["type"].endswith(type_.rpartition(".")[2]) and (again["message"] or "") in message:
        cursor.at = message_end(lines, cursor.at)
    line: Line = lines[start + 1] if message else lines[start]
    cursor.add(Failure(type_, message, frames, line, lines[start], layout="debugger", cut=True))


def _read_frames(cursor: Cursor) -> list[Frame]:
    """The frames, the outermost first, whichever way round the debugger showed them."""
    frames: list[Frame] = []
    code: list[str] = []  # of each frame
    while cursor.at < len(cursor.lines):
        line = cursor.lines[cursor.at]
        position = PYTHON_FRAME.match(line.text)
        if position is None and line.text and line.text[0] not in " \t":
            break
        if position is not None and len(frames) < MAX_FRAMES:
            frames.append(Frame(position["file"], int(position["line"]), position["function"] or "", line))
            code.append("")
        elif code:
            code[-1] += line.text
        cursor.at += 1
    if _innermost_first(frames, code):
        frames.reverse()
    return frames


def _innermost_first(frames: list[Frame], code: list[str]) -> bool:
    """Whether the innermost frame comes first: then the code of each frame calls the function above it."""
    if frames and frames[0].function == "<module>":
        return False
    inward = 0
    for i, (upper, lower) in enumerate(pairwise(frames)):
        inward += _calls(code[i], lower) - _calls(code[i + 1], upper)
    return inward <= 0


def _calls(code: str, frame: Frame) -> bool:
    return re.search(rf"\b{re.escape(frame.function)}\(", code) is not None
