"""Walks over the lines of one stream and hands each traceback to the module of its layout."""

from __future__ import annotations

from troubleshooter.observe.model import Failure
from troubleshooter.observe.tracebacks import debugger, notebook, python, rich_box
from troubleshooter.observe.tracebacks.cursor import Cursor
from troubleshooter.observe.tracebacks.frames import HEADER
from troubleshooter.observe.tracebacks.messages import ALONE
from troubleshooter.observe.tracebacks.normalize import normalize
from troubleshooter.read.line import Line

REACH_LINES = 400
"""A traceback with its message may have this many lines and still be read whole if two parts of a log divide it."""
TEARDOWN_LINES = 3
"""Lines from "Exception ignored in" to its traceback: the name of a function may wrap."""

_CHAIN_CAUSE = "The above exception was the direct cause of the following exception"
_CHAIN_CONTEXT = "During handling of the above exception, another exception occurred"
_TEARDOWN = ("Exception ignored in", "Error in atexit")
_CALL_STACK = "Call stack:"


def parse(lines: list[Line]) -> list[Failure]:
    """All exceptions that the lines of one stream show, in their order; chained ones are linked by ``cause``."""
    cursor = Cursor(normalize(lines))
    _read_until(cursor, len(lines))
    return cursor.failures


def parse_part(lines: list[Line]) -> tuple[list[Failure], int]:
    """The exceptions of a part of a stream, and the index from which its lines must be given again with what follows.

    An exception that begins within the last `REACH_LINES` lines may go on in the next part.
    """
    cursor = Cursor(normalize(lines))
    _read_until(cursor, len(lines) - REACH_LINES)
    return cursor.failures, cursor.at


def _read_until(cursor: Cursor, stop: int) -> None:
    """Read the exceptions that begin before the index ``stop``. The cheap tests come first, because this runs for every
    line."""
    lines = cursor.lines
    while cursor.at < stop:
        text = lines[cursor.at].text
        if not text:
            cursor.at += 1
        elif HEADER in text:
            _read_headed(cursor)
        elif text[0] == "│" and rich_box.goes_on(cursor):
            rich_box.read(cursor, cut=True)
        elif _CHAIN_CAUSE in text or _CHAIN_CONTEXT in text:
            cursor.chained = bool(cursor.failures)
            cursor.at += 1
        elif text == _CALL_STACK:
            _skip_call_stack(cursor)
        elif (type_ := debugger.type_of(text)) is not None:
            debugger.read(cursor, type_)
        elif ('File "' in text or ".py" in text) and python.starts_without_header(cursor):
            python.PythonTraceback(cursor, cursor.at, cut=True).read()
        elif (text[0].isalpha() or text[0] == "_") and (alone := ALONE.match(text)):
            type_ = f"{alone['type']}({alone['inner']})" if alone["inner"] else alone["type"]
            cursor.add_exception("message alone", cursor.at, type_, alone["message"] or "", [], cut=True)
        else:
            cursor.teardown = text.startswith(_TEARDOWN)
            cursor.at += _lines_to_header(cursor) if cursor.teardown else 1


def _read_headed(cursor: Cursor) -> None:
    """Read the traceback whose header is the next line."""
    if rich_box.is_top(cursor.text()):
        rich_box.read(cursor)
        return
    start, type_ = cursor.at, notebook.type_in_header(cursor)
    cursor.rank = python.rank_of_table(cursor)
    cursor.at += 1
    reader = notebook.NotebookTraceback(cursor, start, type_) if type_ else python.PythonTraceback(cursor, start)
    reader.read()


def _lines_to_header(cursor: Cursor) -> int:
    """How many lines below "Exception ignored in" the header of its traceback is; 1 if none follows."""
    for ahead in range(1, TEARDOWN_LINES):
        if HEADER in cursor.text(ahead):
            return ahead
    return 1


def _skip_call_stack(cursor: Cursor) -> None:
    """Skip the call stack that `logging` prints below its own error. It shows where the record was made, not a failure."""
    cursor.at += 1
    while cursor.text().startswith((" ", "Message: ", "Arguments: ")):
        cursor.at += 1
