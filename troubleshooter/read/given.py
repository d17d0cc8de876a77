"""Turn what a Python caller passes (the text of a log, its lines, a path, or a caught exception) into inputs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from troubleshooter.read.sources import Source, Unreadable, from_path, from_text

Given = str | bytes | Path | BaseException | Iterable[str | bytes]
"""The forms in which a caller may pass a log."""


_RUNS_CELLS = "/site-packages/IPython/"
"""What runs the cells of a notebook. It stands above each failing cell, and IPython does not show it either."""


def given(log: Given) -> list[Source]:
    """The inputs of one report. Raises `Unreadable`, also for a `str` that is the name of a file, because only a `Path`
    means a file."""
    if isinstance(log, Path):
        return from_path(log)
    if isinstance(log, BaseException):
        return [_exception(log)]
    if isinstance(log, str) and "\n" not in log and os.path.exists(log):
        raise Unreadable(
            f"{log!r} is the name of a file, and a str is the text of a log; pass Path({log!r}), or use diagnose_file"
        )
    if isinstance(log, (str, bytes)):
        return [from_text(log)]
    if not isinstance(log, Iterable):
        raise Unreadable(
            f"{type(log).__name__} is no log; pass its text, its lines, a Path, or an exception (such as sys.last_value)"
        )
    return [from_text(_lines(log))]


def _exception(error: BaseException) -> Source:
    """The exception as Python prints it, with its causes, notes and the exceptions of a group."""
    from traceback import format_exception

    begin = error.__traceback__
    while begin is not None and _RUNS_CELLS in begin.tb_frame.f_code.co_filename.replace("\\", "/"):
        begin = begin.tb_next
    source = from_text("".join(format_exception(type(error), error, begin or error.__traceback__)), "exception")
    source.excerpt = True
    return source


def _lines(log: Iterable[object]) -> Iterator[str | bytes]:
    for number, line in enumerate(log, 1):
        if not isinstance(line, (str, bytes)):
            raise Unreadable(f"item {number} of the log is a {type(line).__name__}; expected lines (str or bytes)")
        yield line
