"""Tracebacks that Rich drew in a box, even if the top or the bottom of the box is missing. The exception follows below
the box."""

from __future__ import annotations

from kb import lazy
from troubleshooter.observe.model import Frame
from troubleshooter.observe.tracebacks.cursor import Cursor
from troubleshooter.observe.tracebacks.frames import MAX_FRAMES, frame_position, keep_around
from troubleshooter.observe.tracebacks.messages import ALONE, LAST_LINE, NEW_EXCEPTION

MAX_BOX_LINES = 400
"""Lines below the first line of a paste within which a box that began above it must end."""

# Old terminals draw boxes with + - |
_TOP = lazy.compile(r"\s*[╭┌+][─\-━ ].{0,400}Traceback \(most recent call last\).{0,400}$")
_BOTTOM = lazy.compile(r"\s*[╰└+][─\-━]{8,}")
_SIDES = lazy.compile(r"\s*[│|](?: (?P<text>.*?))??\s?[│|]?$")
_ARROW = lazy.compile(r"\s*[❱>]\s*\d{1,9}\s*[│|](?P<code>.*)")
_AROUND = lazy.compile(r"\s*\d{1,9}\s*[│|](?P<code>.*)")
_CODE = lazy.compile(r"\s*(?:[❱>]\s*)?(?:\d{1,9}\s*)?[│|]")


def is_top(text: str) -> bool:
    """Whether a line is the top of a box, with the header of a traceback in it."""
    return text.strip()[:1] in ("╭", "┌", "+") and _TOP.match(text) is not None


def goes_on(cursor: Cursor) -> bool:
    """Whether the next line is inside a box whose top was cut off and that has an exception below it."""
    if cursor.at < cursor.no_box_before:
        return False
    for at in range(cursor.at, min(cursor.at + MAX_BOX_LINES, len(cursor.lines))):
        text = cursor.lines[at].text
        cursor.no_box_before = at + 1  # each line is looked at once
        if _BOTTOM.match(text):
            return at + 1 < len(cursor.lines) and ALONE.match(cursor.lines[at + 1].text) is not None
        if not text.startswith("│"):
            return ALONE.match(text) is not None  # the bottom was cut off, too
    return False


def read(cursor: Cursor, *, cut: bool = False) -> None:
    """Read a box and the exception below it. ``cut``: whether the box has no top."""
    start = cursor.at
    cursor.at += not cut
    frames = _read_frames(cursor)
    cursor.skip_blank()
    if cursor.at < len(cursor.lines) and (found := LAST_LINE.match(cursor.text().strip())):
        cursor.add_exception("rich box", start, found["type"], found["message"] or "", frames, cut=cut)
    elif frames:
        cursor.add_cut_off("rich box", start, frames)


def _read_frames(cursor: Cursor) -> list[Frame]:
    """The frames of a box. Afterwards the cursor is behind the bottom of the box, or at the exception if the bottom is
    missing."""
    frames: list[Frame] = []
    held = ""  # a frame may be broken at the right side and go on in the next line of the box
    while cursor.at < len(cursor.lines):
        line = cursor.lines[cursor.at]
        if _SIDES.match(line.text) is None and not _BOTTOM.match(line.text):
            if LAST_LINE.match(line.text) and NEW_EXCEPTION.match(line.text):
                break
            cursor.at += 1
            continue
        cursor.at += 1
        if _BOTTOM.match(line.text):
            break
        inner = _between_sides(line.text)
        if frames and (arrow := _ARROW.match(inner)):
            frames[-1].shown = (_unruled(arrow["code"]),)
        elif frames and (around := _AROUND.match(inner)):
            keep_around(frames[-1], _unruled(around["code"]))
        if not inner.strip() or _CODE.match(inner) or inner.lstrip()[:1] in "╭╰│":
            held = ""
            continue
        held += f" {inner}" if held.endswith(" in") else inner
        position = frame_position(held.strip())
        if position is None or not position.line:
            continue
        if frames and held != inner and frames[-1].line == position.line:  # its function's name went on in this line
            frames[-1] = Frame(position.file, position.line, position.function, frames[-1].seen)
        elif len(frames) < MAX_FRAMES:
            frames.append(Frame(position.file, position.line, position.function, line))
    return frames


def _unruled(text: str) -> str:
    """Code without the lines that Rich draws at each step of its indent."""
    bare = text.lstrip(" │|")
    return " " * (len(text) - len(bare)) + bare


def _between_sides(text: str) -> str:
    """The text between the sides of a box line, in its full width: a path that fills it goes on below."""
    text = text.lstrip()[1:]
    text = text[1:] if text.startswith(" ") else text
    if text.endswith(("│", "|")):
        text = text[:-1]
        text = text[:-1] if text.endswith(" ") else text
    return text.rstrip() if text.endswith("  ") else text
