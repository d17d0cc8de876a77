"""Divisors of numbers that a log shows. A log may show a number of any size, so that only so many are tried."""

from __future__ import annotations

MAX_TRIED = 100_000
"""Numbers that are tried as divisors: some ms. Sizes, heads and batches are smaller."""


def largest_divisor(number: int, most: int) -> int | None:
    """The largest divisor of a positive number that is at most ``most``; None if `MAX_TRIED` numbers hold none."""
    first = min(number, most)
    return next((one for one in range(first, max(0, first - MAX_TRIED), -1) if number % one == 0), None)


def nearest_divisor(number: int, wanted: int) -> int | None:
    """The divisor of a positive number that is nearest to ``wanted``, the smaller one of two; None if `MAX_TRIED` steps find none."""
    for step in range(MAX_TRIED):
        for one in (wanted - step, wanted + step):
            if one > 0 and number % one == 0:
                return one
    return None
