"""A row number past the end that a library asks an own data set for: the length, or the sampler, that is at fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

Run = Callable[..., Report]
LIBRARY = "class Sampler:\n    pass\ndef read(rows, order=None):\n    for n in order if order is not None else range(len(rows)):\n        rows[n]\n"
ROWS = """from widget import Sampler, read
class Rows:
    def __init__(self, rows):
        self.rows = rows
        self.names = [*rows, 'none']
        self.size = len(rows)
    def __len__(self):
        return {length}
    def __getitem__(self, n):
        return {item}
"""


def first(report: Report) -> str | None:
    return report.explained[0]["suggestions"][0]["code"]


@pytest.mark.parametrize(
    ("length", "item", "code"),
    [
        ("len(self.names)", "self.rows[n]", "return len(self.rows)"),
        ("len(self.rows) + 1", "self.rows[n]", "return len(self.rows)"),
        ("len(self.rows)", "self.rows[n + 1]", "return len(self.rows) - 1"),
    ],
)
def test_a_length_that_is_not_that_of_the_rows(of_run: Run, length: str, item: str, code: str):
    report = of_run(LIBRARY, ROWS.format(length=length, item=item) + "read(Rows([1, 2]))\n")
    assert first(report) == code
    assert "train.py:8" in report.explained[0]["condition"]


SAMPLER = "class Longest(Sampler):\n    def __init__(self, rows):\n        self.order = {order}\n    def __iter__(self):\n        return iter(self.order)\n"


@pytest.mark.parametrize(
    ("order", "code"),
    [
        ("range(1, len(rows) + 1)", "range(len(rows))"),
        ("[n for n, row in enumerate(rows, 1)]", "enumerate(rows)"),
        ("[n for n, row in enumerate(rows, start=1)]", "enumerate(rows)"),
    ],
)
@pytest.mark.parametrize("length", ["len(self.rows)", "self.size"])
def test_a_sampler_that_counts_from_one(of_run: Run, order: str, code: str, length: str):
    program = ROWS.format(length=length, item="self.rows[n]") + SAMPLER.format(order=order)
    report = of_run(LIBRARY, program + "rows = Rows([1, 2])\nread(rows, Longest(rows.rows))\n")
    assert first(report) == code
    assert [one["name"] for one in report.explained[0]["arguments"]] == ["Longest", "self.rows"]


@pytest.mark.parametrize(
    ("item", "end"),
    [
        ("self.rows[n]", "Rows([1])[3]\n"),  # no library asked
        ("self.rows[n * 2]", "read(Rows([1, 2]))\n"),  # another number is asked for
        ("self.rows[n]", "read(Rows([1, 2]), [5])\n"),  # no sampler of the file's own
    ],
)
def test_where_nothing_shows_the_mistake_nothing_is_said(of_run: Run, item: str, end: str):
    report = of_run(LIBRARY, ROWS.format(length="len(self.rows)", item=item) + end)
    assert "print(" in (first(report) or "")
