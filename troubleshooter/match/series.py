"""The shapes that `metric:` conditions ask for: whether a series of numbers falls, explodes, repeats and so on."""

from __future__ import annotations

from collections.abc import Callable

from troubleshooter.observe.model import Bounds, all_finite, finite

STUCK_POINTS = 4
REPEAT_POINTS = 400
"""Points at the end of a series that are searched for a block that comes again."""
EXPLODED = 30.0
"""A series explodes if its end is this many times its lowest earlier value (case F20 of the lab went from 5 to 6,665)
and above `EXPLODED_TO`."""
EXPLODED_TO = 10.0

CLIMB_POINTS = 10
CLIMBED, CLIMBED_NOISE, HELD = 1.05, 3.0, 0.96
"""A series climbs if the mean of its last third is ``CLIMBED`` times that of its first and ``CLIMBED_NOISE`` standard
deviations above it, and if no later value falls below ``HELD`` times the mean of the first three."""
FROZEN_POINTS = 8


def ruled_out(shape: str, value: float | None, within: Bounds) -> bool:
    """Whether these bounds of a series already exclude that any of its points shows the shape."""
    if not within.finite:
        return False
    if shape in ("nan", "inf", "nonfinite"):
        return True
    if shape == "zero":
        return within.low > 0 or within.high < 0
    x = value or 0.0
    if shape == "equal":
        return not within.low - _near(x) <= x <= within.high + _near(x)
    if shape == "exploding":
        return within.high <= EXPLODED_TO
    if shape == "constant":
        return within.low != within.high
    return (shape == "above" and within.high <= x) or (shape == "below" and within.low >= x)


def first(values: list[float], shape: str, value: float | None) -> int | None:
    """The index of the first value that shows the shape, or None. For a shape of the whole series it is the index of
    the last value."""
    if shape in POINTWISE:
        shows, x = POINTWISE[shape], value or 0.0
        if all_finite(values):  # thousands of points: each call counts
            if shape == "above":
                return next((n for n, v in enumerate(values) if v > x), None)
            if shape == "below":
                return next((n for n, v in enumerate(values) if v < x), None)
            if shape == "equal":
                low, high = x - 2 * _near(x), x + 2 * _near(x)
                return next((n for n, v in enumerate(values) if low <= v <= high and shows(v, x)), None)
        return next((n for n, v in enumerate(values) if shows(v, x)), None)
    return len(values) - 1 if values and WHOLE[shape](values) else None


def every(values: list[float], shape: str, value: float | None) -> bool:
    """Whether all values show the shape (for shapes of a whole series: whether it does)."""
    if shape not in POINTWISE:
        return WHOLE[shape](values)
    x = value or 0.0
    if values and all_finite(values):
        if shape == "above":
            return min(values) > x
        if shape == "below":
            return max(values) < x
        if shape == "finite":
            return True
    return all(POINTWISE[shape](v, x) for v in values)


def _finite(values: list[float]) -> list[float]:
    return values if all_finite(values) else [v for v in values if finite(v)]


def _near(value: float) -> float:
    return 1e-4 * max(1.0, abs(value))


def _stuck(values: list[float]) -> bool:
    """Whether the last half of the series does not change, apart from noise."""
    seen = _finite(values)
    if len(seen) < STUCK_POINTS:
        return False
    half = seen[len(seen) // 2 :]
    return max(half) - min(half) <= 0.002 * max(max(half), -min(half)) if any(half) else True


def _constant(values: list[float]) -> bool:
    return len(values) >= 3 and len(set(values)) == 1


def _trend(values: list[float]) -> float:
    """The change from the first third to the last, relative to the size of the values."""
    seen = _finite(values)
    if len(seen) < 3:
        return 0.0
    third = max(1, len(seen) // 3)
    start, stop = sum(seen[:third]) / third, sum(seen[-third:]) / third
    return (stop - start) / (max(abs(start), abs(stop)) or 1.0)


def _climbing(values: list[float]) -> bool:
    """Whether the series never falls noticeably below its start, each third is above the one before, and the rise is
    larger than its noise."""
    seen = _finite(values)
    if len(seen) < CLIMB_POINTS or seen[0] <= 0:
        return False
    third = len(seen) // 3
    first, second, last = (sum(part) / third for part in (seen[:third], seen[third : 2 * third], seen[-third:]))
    noise = (sum((v - first) ** 2 for v in seen[:third]) / third) ** 0.5
    return (
        first < second < last
        and last > max(CLIMBED * first, first + CLIMBED_NOISE * noise)
        and min(seen[3:]) > HELD * sum(seen[:3]) / 3
    )


def _frozen(values: list[float]) -> bool:
    """Whether the series has the same value, to the last digit, from some record on to its end."""
    if len(values) < FROZEN_POINTS:
        return False
    count = next((n for n, v in enumerate(reversed(values)) if v != values[-1]), len(values))
    return count >= FROZEN_POINTS and 2 * count > len(values)


def _exploding(values: list[float]) -> bool:
    seen = _finite(values)
    low = seen[0] if seen else 0.0
    for v in seen:
        if low > 0 and v > EXPLODED * low and v > EXPLODED_TO:
            return True
        low = min(low, v) if v > 0 else low
    return False


def _repeating(values: list[float]) -> bool:
    """Whether a block of at least three different values comes again digit for digit, as it does when nothing is
    updated between epochs."""
    values = values[-REPEAT_POINTS:]
    n = len(values)
    for period in range(3, n // 2 + 1):
        if values[-1 - period] != values[-1]:
            continue
        block = values[-period:]
        if len(set(block)) >= 3 and values[-2 * period : -period] == block:
            return True
    return False


POINTWISE: dict[str, Callable[[float, float], bool]] = {
    "seen": lambda v, _: True,
    "nan": lambda v, _: v != v,
    "inf": lambda v, _: v in (float("inf"), float("-inf")),
    "nonfinite": lambda v, _: not finite(v),
    "finite": lambda v, _: finite(v),
    "zero": lambda v, _: v == 0,
    "nonzero": lambda v, _: finite(v) and v != 0,
    "above": lambda v, x: finite(v) and v > x,
    "below": lambda v, x: finite(v) and v < x,
    "equal": lambda v, x: finite(v) and abs(v - x) <= _near(x),
}
WHOLE: dict[str, Callable[[list[float]], bool]] = {
    "stuck": _stuck,
    "constant": _constant,
    "falling": lambda values: _trend(values) < -0.02,
    "rising": lambda values: _trend(values) > 0.02,
    "climbing": _climbing,
    "exploding": _exploding,
    "frozen": _frozen,
    "repeating": _repeating,
}
