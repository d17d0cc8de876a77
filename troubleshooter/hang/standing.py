"""Where a rank is: the collective in which it waits, and the innermost frame of the run's own code."""

from __future__ import annotations

import re
from typing import NamedTuple

from troubleshooter.hang.collectives import collective_of
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.stacks import StackFrame
from troubleshooter.paths import installed_file

_STANDARD = re.compile(r".*/python3(?:\.\d+)?/|<frozen ")


class Standing(NamedTuple):
    """Where a rank is. ``collective``: the collective in which it waits, or "". ``own``: the innermost frame of the run's own code."""

    rank: Rank
    collective: str
    own: StackFrame | None
    innermost: StackFrame | None


def standing_of(rank: Rank) -> Standing:
    stack = rank.stack
    return Standing(
        rank, collective_of(stack), next((f for f in stack if is_own(f)), None), stack[0] if stack else None
    )


def is_own(frame: StackFrame) -> bool:
    """Whether a frame is the run's own code: not that of a package, of Python or of this tool."""
    path = frame.file.replace("\\", "/")
    return (
        installed_file(path) is None
        and not _STANDARD.match(path)
        and not path.startswith("<")
        and not path.endswith("/troubleshooter/hook.py")
    )
