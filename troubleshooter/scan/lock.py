"""One writer at a time for a file that is appended to."""

from __future__ import annotations

import contextlib
import errno
from typing import IO

from kb.errors import TroubleshootError


class InUse(TroubleshootError):
    """Another process writes to the same file."""


def hold(file: IO[bytes], name: object, what: str) -> None:
    """Lock an open file until it is closed, also by the end of the process. Raises `InUse` where another process holds it.

    ``what`` names the other process, such as "another scan". A file system without locks is taken as it is.
    """
    with contextlib.suppress(ImportError):  # Windows
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise InUse(f"{name}: {what} writes to it; wait until that has ended, or name another file") from error
