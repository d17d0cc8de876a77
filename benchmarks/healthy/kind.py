"""A kind of healthy run, and the work that several kinds do. Needs the standard library alone, as does `script`."""

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

WORK = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: sum(i * i for i in range(1000))"
"""A program that computes for some seconds."""


class Kind(NamedTuple):
    """``ranks``: two on gloo, of which rank 1 waits in a barrier for what rank 0 does, or one process without torch.distributed.
    ``all_work``: both ranks do it."""

    work: Callable[..., Any]
    ranks: int = 1
    all_work: bool = False

    @property
    def name(self) -> str:
        return ("ranks-" if self.ranks > 1 else "") + self.work.__name__


def with_ranks(work: Callable[..., Any], all_work: bool = False) -> Kind:
    return Kind(work, 2, all_work)


def busy(seconds: float) -> int:
    """Compute in plain Python."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(i * i for i in range(1000))
    return 1


def left(end: float) -> float:
    """The seconds until ``end``."""
    return max(end - time.monotonic(), 0.0)


def child(end: float) -> list[str]:
    """The words of a program that computes until ``end``."""
    return [sys.executable, "-c", WORK, str(left(end))]
