"""Things without an order that are sorted or put on a heap."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("import heapq\nbest = []\nfor state in ({'a': 1}, {'a': 2}):\n    heapq.heappush(best, (0.5, state))\n", "(0.5, next(counter), state)"),
        ("rows = [(1, {'a': 1}), (1, {'a': 2})]\nrows = sorted(rows)\n", "sorted(rows, key=lambda one: one[...])"),
        ("rows = [{}, {}]\nrows.sort()\n", "rows.sort(key=lambda one: one[...])"),
        ("rows = [{}, {}]\nbest = max(rows)\n", "max(rows, key=lambda one: one[...])"),
    ],
)
def test_things_without_an_order(of_run: Run, script: str, code: str) -> None:
    assert code in codes(of_run("", script))


@pytest.mark.parametrize(
    "script",
    [
        "rows = [1, 'a']\nrows = sorted(rows)\n",  # two types: one of them is wrong
        "rows = [({}, 1), ({}, 2)]\nrows = sorted(rows, key=lambda row: row[0])\n",  # the key itself has no order
        "print({} < {}, sorted([1]))\n",
    ],
)
def test_another_comparison(of_run: Run, script: str) -> None:
    assert not any("key=lambda" in (code or "") or "counter" in (code or "") for code in codes(of_run("", script)))
