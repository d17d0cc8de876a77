"""Which frames are the run's own code."""

from __future__ import annotations

import re

from troubleshooter.hang.stacks import StackFrame
from troubleshooter.paths import installed_file

_STANDARD = re.compile(r".*/python3(?:\.\d+)?/|<frozen ")


def is_own(frame: StackFrame) -> bool:
    """Whether a frame is the run's own code: not that of a package, of Python or of this tool."""
    path = frame.file.replace("\\", "/")
    return (
        installed_file(path) is None
        and not _STANDARD.match(path)
        and not path.startswith("<")
        and not path.endswith("/troubleshooter/hook.py")
    )
