"""How many cores this process may use, and how many of them one search of a large log takes."""

from __future__ import annotations

import os

HELPERS = 3
"""Threads or processes at most that help to search one log (measured with one, on two cores; more are a guess)."""


def helpers() -> int:
    """Threads or processes that a search of a large log is given beside the one that calls."""
    return min(cores() - 1, HELPERS)


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
