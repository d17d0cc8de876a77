"""Read files that somebody else may have placed: only regular files of bounded size, and no links that lead outside."""

from __future__ import annotations

import os
import stat
from pathlib import Path

MAX_FILE_BYTES = 1 << 20
"""The largest file with an entry, a translation or a recorded run."""


class Refused(ValueError):
    """A file that must not be read; the message says why."""


def contents(path: Path, root: Path | None = None, limit: int = MAX_FILE_BYTES) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes.

    With ``root`` a symbolic link is followed only to a place inside of that folder. Raises `Refused`, OSError.
    """
    if root is not None and path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
        raise Refused("is a link that leads out of the folder of entries")
    # Without O_NONBLOCK opening a FIFO would wait for a writer.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode):
            raise Refused("is no regular file")
        if state.st_size > limit:
            raise Refused(f"has {state.st_size:,} bytes; at most {limit:,} are read")
        return file.read(limit)
