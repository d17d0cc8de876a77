"""One unit repeated at any place of a line costs no more than its length, in every reader.

Counted work, no clock: the calls of Python code and of built-in functions while a log is diagnosed, and the length of the text
wherever a whole line is searched. That a single search is linear follows from its pattern (`test_patterns`). `benchmarks.fuzz`
measures both.
"""

from __future__ import annotations

import random

import pytest

from benchmarks.mutations import PLACES, UNITS
from tests.counting import calls
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.report.model import Report

SHORT, LONG = 1_500, 6_000
"""Bytes of the repeated unit."""
ALLOWANCE = 4_000
"""This many calls may be added at any length: an entry may be tried on only one of the two texts."""


def report(text: bytes, tool: Diagnoser) -> Report:
    return tool.report([from_text(text)])


@pytest.mark.parametrize("place", PLACES)
def test_four_times_a_unit_is_at_most_four_times_the_work(place: bytes, tool: Diagnoser) -> None:
    picked = random.Random(place).sample(UNITS, 12)
    for unit in picked:
        texts = [place.replace(b"%s", unit * (size // len(unit))) for size in (SHORT, LONG)]
        for text in texts:
            report(text, tool)  # what is compiled or loaded once is not counted
        short, long = (calls(lambda text=text: report(text, tool)) for text in texts)  # type: ignore[misc]
        assert long <= 5 * short + ALLOWANCE, f"{unit!r}: {short} and {long} calls"


@pytest.mark.parametrize(
    "unit", [b"torch 2.1 ", b"torch==2.1 ", b"torch 2.1 CUDA ", b"A100 ", b"loss=1 ", b"'loss': 1, ", b"GPU cuda 1.2 ", b"SIGTERM "]
)
def test_what_is_found_many_times_does_not_search_the_line_again(unit: bytes, tool: Diagnoser) -> None:
    texts = [unit * (size // len(unit)) for size in (4 * SHORT, 4 * LONG)]
    for text in texts:
        report(text, tool)
    short, long = (calls(lambda text=text: report(text, tool)) for text in texts)  # type: ignore[misc]
    assert long <= 5 * short + ALLOWANCE, f"{short} and {long}"


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
        report(text, tool)
    short, long = (calls(lambda text=text: report(text, tool)) for text in texts)  # type: ignore[misc]
    assert long <= 5 * short + ALLOWANCE
