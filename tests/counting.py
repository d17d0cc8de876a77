"""Counted work in place of clocks."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import FrameType

_SEARCHES = ("search", "findall", "finditer", "sub", "split")


def calls(work: Callable[[], object]) -> int:
    """How many functions are called while it works, and how many times 64 characters are searched."""
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event not in ("call", "c_call"):
            return
        count += 1
        if isinstance(getattr(argument, "__self__", None), re.Pattern) and getattr(argument, "__name__", "") in _SEARCHES:
            count += len(frame.f_locals.get("text") or "") // 64

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count
