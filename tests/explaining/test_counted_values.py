"""An argument that a loop counts is not set to a constant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.explaining.told import codes
from troubleshooter.report.model import Report

Run = Callable[..., Report]
LIBRARY = """
def shard(num_shards, index):
    if not 0 <= index < num_shards:
        raise ValueError("index should be in [0, num_shards-1]")
"""


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("for n in range(1, 4 + 1):\n    shard(4, index=n)\n", ["index=n - 1"]),
        ("for n in range(1, 5):\n    shard(num_shards=4, index=n)\n", ["index=n - 1"]),
        ("for n in range(8):\n    shard(4, index=n)\n", []),
        ("for n in [0, 4]:\n    shard(4, index=n)\n", None),
        ("n = 4\nshard(4, index=n)\n", None),
    ],
    ids=["from-one", "from-one-named", "too-many-rounds", "no-range", "a-constant"],
)
def test_an_argument_that_a_loop_counts(of_run: Run, call: str, code: list[str] | None) -> None:
    told = codes(of_run(LIBRARY, f"from widget import shard\n{call}"))
    assert told == code if code is not None else "index=n - 1" not in told
