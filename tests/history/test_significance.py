"""Fisher's exact test and Holm's correction, against values that were counted out."""

from __future__ import annotations

from math import comb

import pytest

from troubleshooter.history.significance import fisher_greater, fisher_less, holm, wilson


def counted(failed: int, runs: int, other_failed: int, other_runs: int) -> float:
    """The tail of the hypergeometric distribution in whole numbers."""
    total, bad = runs + other_runs, failed + other_failed
    ways = sum(comb(runs, k) * comb(other_runs, bad - k) for k in range(failed, min(runs, bad) + 1))
    return ways / comb(total, bad)


@pytest.mark.parametrize(
    "groups", [(3, 4, 1, 4), (0, 5, 3, 9), (5, 5, 0, 5), (40, 50, 900, 3000), (2, 50, 900, 3000), (15, 50, 900, 3000), (7, 7, 9, 9), (0, 3, 0, 8)]
)
def test_the_tail_is_that_of_the_hypergeometric_distribution(groups: tuple[int, int, int, int]) -> None:
    assert fisher_greater(*groups) == pytest.approx(counted(*groups), rel=1e-9, abs=1e-12)


def test_fewer_failures_are_the_other_tail() -> None:
    assert fisher_less(1, 30, 20, 30) == pytest.approx(1 - fisher_greater(2, 30, 19, 30), rel=1e-9)
    assert fisher_less(1, 30, 20, 30) < 1e-6
    assert fisher_less(20, 30, 1, 30) == pytest.approx(1.0, abs=1e-6)


def test_large_numbers_are_exact_enough() -> None:
    assert fisher_greater(700, 1000, 350_000, 1_000_000) < 1e-100
    assert 0.4 < fisher_greater(350, 1000, 350_000, 1_000_000) < 0.6


def test_holm_corrects_for_the_number_of_questions() -> None:
    assert holm([0.04, 0.001, 0.03]) == pytest.approx([0.06, 0.003, 0.06])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_an_interval_contains_its_share() -> None:
    low, high = wilson(3, 10)
    assert 0 < low < 0.3 < high < 1
    assert wilson(50, 100) == pytest.approx((0.404, 0.596), abs=5e-4)
    assert wilson(0, 0) == (0.0, 1.0)
