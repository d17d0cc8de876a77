"""Shapes of a series: if its bounds rule a shape out, no value shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshooter.match import series
from troubleshooter.observe.model import Bounds, finite

VALUES = st.lists(
    st.one_of(
        st.sampled_from([0.0, 1.0, -1.0, 0.693, 12.0, 400.0, float("nan"), float("inf")]),
        st.floats(-1e6, 1e6, allow_nan=False),
    ),
    min_size=1,
    max_size=30,
)
SHAPES = ("nan", "inf", "nonfinite", "zero", "equal", "above", "below", "exploding", "constant", "stuck", "falling")


@pytest.mark.parametrize("shape", SHAPES)
@given(values=VALUES, value=st.sampled_from([None, 0.0, 0.693, 1.0, 400.0]))
def test_what_is_ruled_out_is_not_there(shape: str, values: list[float], value: float | None) -> None:
    within = Bounds(min(values), max(values), all(map(finite, values)))
    if series.ruled_out(shape, value, within):
        assert series.first(values, shape, value) is None


@given(block=st.lists(st.integers(0, 3), min_size=3, max_size=6), before=st.lists(st.integers(0, 3), max_size=5))
def test_a_block_that_comes_again_is_seen(block: list[int], before: list[int]) -> None:
    values = [float(v) for v in (*before, *block, *block)]
    if len(set(block)) >= 3:
        assert series.first(values, "repeating", None) == len(values) - 1


@pytest.mark.parametrize("shape", series.POINTWISE)
@given(values=VALUES, value=st.sampled_from([None, 0.0, 0.693, 1.0, 400.0]))
def test_the_fast_way_is_the_slow_one(shape: str, values: list[float], value: float | None) -> None:
    shown = [series.POINTWISE[shape](v, value or 0.0) for v in values]
    assert series.first(values, shape, value) == (shown.index(True) if any(shown) else None)
    assert series.every(values, shape, value) == all(shown)
