"""Checks that a function of the library raises for: the condition stands in the line that called it."""

from __future__ import annotations

from collections.abc import Callable

from troubleshooter.report.model import Report

LIBRARY = """
class torch:
    @staticmethod
    def _check_with(error, condition, message):
        if condition:
            return
        if message is None:
            text = "wrong"
        else:
            text = message()
        raise error(text)

class Grid:
    def __init__(self, *shape):
        self.shape = shape

def join(grid, mask):
    rows = grid.shape[0]
    check(mask, rows)

def check(mask, rows):
    torch._check_with(
        AssertionError,
        mask.shape[0] == rows,
        lambda: f"Expected the mask to have {rows} rows, and got {mask.shape[0]}",
    )
"""
PROGRAM = "from widget import *\ngrid = Grid(12, 6)\nmask = Grid(6, 12)\njoin(grid, mask)\n"
Run = Callable[..., Report]


def test_the_condition_and_both_arguments(of_run: Run):
    [found] = of_run(LIBRARY, PROGRAM).explained
    assert found["condition"] == "`mask.shape[0]` is not `rows`"
    assert {one["name"] for one in found["arguments"]} == {"mask", "grid"}
    [fix] = found["suggestions"]
    assert fix["do"] == "Change `mask` or `grid` so that `mask.shape[0] == 12`"
    assert fix["code"] is None


def test_an_argument_whose_shape_has_to_be_a_number(of_run: Run):
    library = LIBRARY.replace("    check(mask, rows)", "    check(mask, 12)")
    [fix] = of_run(library, PROGRAM).explained[0]["suggestions"]
    assert fix["do"] == "Set `mask` so that `mask.shape[0] == 12`"


def test_a_line_that_raises_with_its_own_words_keeps_its_condition(of_run: Run):
    library = LIBRARY.replace("text = message()", "raise error('Expected the mask to have other rows')")
    [found] = of_run(library, PROGRAM).explained
    assert "mask.shape[0]" not in found["condition"]


def test_both_are_named_once_where_each_is_asked_for_its_shape(of_run: Run):
    library = LIBRARY.replace("check(mask, rows):", "check(mask, grid):").replace(
        "    check(mask, rows)", "    check(mask, grid)"
    )
    library = library.replace("== rows,", "== grid.shape[0],").replace("{rows}", "{grid.shape[0]}")
    [fix] = of_run(library, PROGRAM).explained[0]["suggestions"]
    assert fix["do"].startswith("Change `mask` or `grid` so that `mask.shape[0] == ")
