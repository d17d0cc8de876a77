"""A tuple that the user's own function gave and that is passed to it again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]
BLOCK = "def block(x, mask=None):\n    n = x.size(1)\n    return {returned}\n"
FIRST = "class One:\n    def size(self, n):\n        return n\nx = One()\n"


@pytest.mark.parametrize(
    ("returned", "loop", "code"),
    [
        ("x, n", "for _ in range(2):\n    x = block(x)\n", "x, _ = block(x)"),
        ("x, n, mask", "for _ in range(2):\n    x = block(x, mask=3)\n", "x, *_ = block(x, mask=3)"),
    ],
)
def test_a_pair_that_is_passed_again(of_run: Run, returned: str, loop: str, code: str) -> None:
    report = of_run("", BLOCK.format(returned=returned) + FIRST + loop)
    assert codes(report)[0] == code
    assert "`block` returned before" in report.explained[0]["condition"]


@pytest.mark.parametrize(
    "script",
    [
        BLOCK.format(returned="x") + "x = (1, 2)\nx = block(x)\n",  # the function returns no tuple
        BLOCK.format(returned="x, n") + "y = (1, 2)\nx = block(y)\n",  # another thing is passed
        BLOCK.format(returned="(x, n) if mask else x") + "x = (1, 2)\nx = block(x)\n",  # or it may be no tuple
    ],
)
def test_another_tuple_is_not_said_to_be_returned_before(of_run: Run, script: str) -> None:
    assert "returned before" not in of_run("", script).explained[0]["condition"]
