"""How an explanation names a line of a file."""

from __future__ import annotations

from pathlib import PurePath


def file_line(path: str, line: int) -> str:
    """``train.py:12``: the file without its folders, and the line."""
    return f"{PurePath(path).name}:{line}"
