"""One unit repeated at any place of a line costs no more than its length, in every reader.

Counted work, no clock: the calls of Python code and of built-in functions while a log is diagnosed. What a regular expression does within
one call is not counted here; that it is linear follows from the pattern (`test_patterns`). `benchmarks.fuzz` measures both.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

import pytest

from benchmarks.fuzz import PLACES, UNITS
from troubleshooter import diagnose
from troubleshooter.pipeline import Diagnoser

SHORT, LONG = 1_500, 6_000
"""Bytes of the repeated unit."""
ALLOWANCE = 4_000
"""Calls that may be more, whatever the length: an entry that is asked only of one of the two."""


def calls(work: Callable[[], object]) -> int:
    """How many functions are called while it works."""
    count = 0

    def called(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("place", PLACES)
def test_four_times_a_unit_is_at_most_four_times_the_work(place: bytes, tool: Diagnoser) -> None:
    picked = random.Random(place).sample(UNITS, 12)
    for unit in picked:
        texts = [place.replace(b"%s", unit * (size // len(unit))) for size in (SHORT, LONG)]
        for text in texts:
            diagnose(text, diagnoser=tool)  # what is compiled or loaded once is not counted
        short, long = (calls(lambda text=text: diagnose(text, diagnoser=tool)) for text in texts)  # type: ignore[misc]
        assert long <= 5 * short + ALLOWANCE, f"{unit!r}: {short} and {long} calls"


@pytest.mark.parametrize(
    "line",
    [
        b"    Foo", b"    Foo: x", b'  File "a.py", line 1, in f', b"x File y", b"[x](y", b"ValueError: x", b"a b c:", b"| x |", b"\xe2\x94\x82 x",
        b"Traceback (most recent call last):", b"During handling of the above exception, another exception occurred:", b"{'loss': 1.0,",
        b"Step\tTraining Loss", b"1\t2.0", b"[rank0]: x", b"exit code 1", b"wandb: loss 1", b"Call stack:", b"Exception ignored in: x",
    ],
)  # fmt: skip
def test_four_times_the_lines_are_at_most_four_times_the_work(line: bytes, tool: Diagnoser) -> None:
    head = b'Traceback (most recent call last):\n  File "a.py", line 1, in f\n'
    texts = [head + (line + b"\n") * count for count in (500, 2_000)]
    for text in texts:
        diagnose(text, diagnoser=tool)
    short, long = (calls(lambda text=text: diagnose(text, diagnoser=tool)) for text in texts)  # type: ignore[misc]
    assert long <= 5 * short + ALLOWANCE
