"""95 % confidence intervals of shares."""

from __future__ import annotations

from math import sqrt


def interval(good: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's score interval of a share: its lower and its upper end, 0 to 1. Nothing counted gives (0, 1)."""
    if not total:
        return 0.0, 1.0
    p, n = good / total, total
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def share(good: int, total: int) -> str:
    """A share as text with its interval: ``"43.0% (36%-50%)"``."""
    low, high = interval(good, total)
    return f"{good / max(1, total):.1%} ({low:.0%}-{high:.0%})"
