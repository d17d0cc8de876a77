"""What to do with standard output when nobody reads it any more."""

from __future__ import annotations

import os
import sys
from contextlib import suppress


def close_output() -> None:
    """Discard what is left in the buffer of standard output, so that the interpreter's last flush raises no error."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
