"""What the statement that gave a name its value tells: results in another order, and a dictionary that was unpacked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]


LIBRARY = "def prepare(*given):\n    return given\ndef turn(given, more):\n    return more, given\n"
SWAPPED = "from widget import *\nrows, wheel = [1], 5.5\n{line}\nfor row in rows:\n    print(row)\n"


def test_results_in_another_order_than_the_arguments(of_run: Run):
    report = of_run(LIBRARY, SWAPPED.format(line="wheel, rows = prepare(rows, wheel)"))
    assert codes(report) == ["rows, wheel = prepare(rows, wheel)"]
    assert "train.py:3 takes the results as `wheel, rows`" in report.explained[0]["condition"]
    assert report.explained[0]["arguments"][0]["value"] == "prepare(rows, wheel)[1]"


@pytest.mark.parametrize(
    "line",
    [
        "rows, wheel = prepare(wheel, 4)",  # not the same names
        "rows, wheel = turn(rows, more=wheel)",  # a keyword says which is which
        "rows, wheel = prepare(rows, wheel)\nrows = 3.5",  # another line gave the value
        "def swap(a, b):\n    return a, b\nrows, wheel = swap(wheel, rows)",  # the user's own function
    ],
)
def test_other_results_are_not_said_to_be_in_another_order(of_run: Run, line: str):
    assert "prepare(rows, wheel)" not in str(codes(of_run(LIBRARY, SWAPPED.format(line=line))))


LOADED = "class Rows:\n    def __getitem__(self, n):\n        if n > 1:\n            raise IndexError\n        return {row}\nrows = Rows()\n"


@pytest.mark.parametrize(
    ("row", "loop", "do", "code"),
    [
        ("{'ids': n, 'mask': 1}", "for ids, mask in rows:\n    ids.to(3)\n", "`for batch in rows:`, then `ids, mask = ", 'batch["ids"]'),
        ("{'ids': n, 'mask': 1}", "for step, (x, y) in enumerate(rows):\n    y.shape\n", "`for step, batch in enumerate(rows):`", 'batch["mask"]'),
        ("{'ids': n, 'mask': 1}", "batch = rows[0]\nids, mask = batch\nids.to(3)\n", '`ids, mask = batch["ids"], batch["mask"]`', 'batch["ids"]'),
        ("{'ids': n, 'mask': 1}", "ids, mask = next(iter(rows))\nmask.to(3)\n", "`batch = next(iter(rows))`, then", 'batch["mask"]'),
        ("dict(input_ids=n, labels=1)", "for input_ids, labels in rows:\n    labels.to(3)\n", "`for batch in rows:`", 'batch["labels"]'),
    ],
)  # fmt: skip
def test_a_dictionary_that_is_unpacked_into_names(of_run: Run, row: str, loop: str, do: str, code: str):
    report = of_run("", LOADED.format(row=row) + loop)
    assert codes(report) == [code]
    assert do in report.explained[0]["suggestions"][0]["do"]


@pytest.mark.parametrize(
    "program",
    [
        "for ids, mask in {'ids': 1, 'mask': 2}.items():\n    ids.to(3)\n",
        "pairs = [('a', 'b'), ('c', 'd')]\nmade = {'ids': 1, 'mask': 2}\nfor ids, mask in pairs:\n    ids.to(3)\n",
        "ids, mask = 'a b'.split()\nmade = {'ids': 1, 'mask': 2}\nids.to(3)\n",
        LOADED.format(row="('a', 'b')") + "for ids, mask in rows:\n    ids.to(3)\n",
        LOADED.format(row="{'ids': n, 'mask': 1}") + "for ids, mask in rows:\n    ids.lowercase()\n",
        "made = {'ids': 1, 'mask': 2}\nids = 'a'\nids.to(3)\n",
    ],
)
def test_another_text_is_not_taken_for_a_key(of_run: Run, program: str):
    assert "[" not in str(codes(of_run("", program))[:1]).strip("[]")
