"""Checks of the same function that a suggestion would lead to, and lines that are only reached where something goes wrong."""

from __future__ import annotations

from collections.abc import Callable

from tests.explaining.told import codes
from troubleshooter.report.model import Report

LIBRARY = """
def drive(function, *args, again: bool = True, **kwargs):
    if kwargs and again:
        raise ValueError("Unexpected keywords: " + ", ".join(kwargs))
    if again:
        return function(*args)
    try:
        return function(*args, **kwargs)
    except StopIteration:
        pass
    raise RuntimeError("the function stopped")
"""
PROGRAM = "from widget import *\ndrive(print, 1, sep='', again=True)\n"
Run = Callable[..., Report]


def test_a_line_behind_a_try_that_returns_forbids_nothing(of_run: Run):
    assert codes(of_run(LIBRARY, PROGRAM)) == ["again=False"]


def test_a_check_that_certainly_fails_then_forbids_the_suggestion(of_run: Run):
    checked = LIBRARY.replace(
        "    try:", "    if not again:\n        raise RuntimeError('once is not enough')\n    try:"
    )
    assert "again=False" not in codes(of_run(checked, PROGRAM))
