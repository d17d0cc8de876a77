"""Tracebacks of IPython, Jupyter and Colab: the header names the type, and the code is numbered, with an arrow at the
frame's line."""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.observe.model import Layout
from troubleshooter.observe.tracebacks.cursor import Cursor
from troubleshooter.observe.tracebacks.frames import HEADER, PYTHON_FRAME, FramePosition, frame_position
from troubleshooter.observe.tracebacks.messages import LAST_LINE
from troubleshooter.observe.tracebacks.python import PythonTraceback

FIRST_FRAME_LINES = 4
"""The first frame follows within this many lines below the header."""
_HEADER = lazy.compile(r"(?P<type>[A-Za-z_][\w.]{0,200})\s+Traceback \(most recent call last\)")


def type_in_header(cursor: Cursor) -> str | None:
    """The type that a notebook's header names; None if the next line is Python's own header.

    The frames below "Original Traceback (most recent call last)" show that this header is Python's own.
    """
    bare = cursor.text().strip()
    found = None if bare.startswith(HEADER) else _HEADER.match(bare)
    if found is None:
        return None
    below = (line.text for line in cursor.following(FIRST_FRAME_LINES) if line.text.strip())
    return None if PYTHON_FRAME.match(next(below, "")) else found["type"]


class NotebookTraceback(PythonTraceback):
    """A traceback that ends with the type that its header named."""

    layout: Layout = "notebook"

    def __init__(self, cursor: Cursor, start: int, type_: str) -> None:
        super().__init__(cursor, start)
        self._type = type_.rpartition(".")[2]

    def is_frame(self, text: str, position: FramePosition | None) -> bool:
        return position is not None

    def is_code(self, text: str) -> bool:
        return super().is_code(text) or text.startswith(("(...)", "...", "[...", "   ")) or text[0].isdigit()

    def shows_more(self, text: str) -> bool:
        return super().shows_more(text) or frame_position(text) is not None

    def last_line(self, text: str) -> re.Match[str] | None:
        found = LAST_LINE.match(text)
        named = found is not None and found["type"].rpartition(".")[2].partition("(")[0] == self._type
        return LAST_LINE.match(text.strip()) if named else None
