"""Is a difference of two shares more than chance? Fisher's exact test, and Holm's correction where many are asked at once."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, lgamma, sqrt

LEVEL = 0.05
"""A corrected probability below this is called significant."""
_NEGLIGIBLE = 1e-17


def fisher_greater(failed: int, runs: int, other_failed: int, other_runs: int) -> float:
    """The probability that chance alone gives the first group as many failures as these, or more (one-sided).

    Both groups' totals and the sum of failures are held fixed: the number of failures is then hypergeometric.
    """
    total, all_failed = runs + other_runs, failed + other_failed
    most = min(runs, all_failed)
    if failed <= max(0, all_failed - other_runs):
        return 1.0
    term = exp(
        _log_choose(runs, failed) + _log_choose(other_runs, all_failed - failed) - _log_choose(total, all_failed)
    )
    # Below the middle the terms grow at first; the sum is then better taken from the other side.
    if failed <= runs * all_failed / total:
        return max(
            0.0, 1.0 - _sum(term, failed, max(0, all_failed - other_runs), runs, other_runs, all_failed, -1) + term
        )
    return min(1.0, _sum(term, failed, most, runs, other_runs, all_failed, 1))


def fisher_less(failed: int, runs: int, other_failed: int, other_runs: int) -> float:
    """As `fisher_greater`, for as few failures as these, or fewer."""
    return fisher_greater(runs - failed, runs, other_runs - other_failed, other_runs)


def holm(probabilities: Sequence[float]) -> list[float]:
    """The probabilities, corrected so that the chance of any false alarm among all of them stays below the level."""
    out = [1.0] * len(probabilities)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(probabilities)), key=probabilities.__getitem__)):
        largest = max(largest, min(1.0, probabilities[index] * (len(probabilities) - place)))
        out[index] = largest
    return out


def wilson(counted: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of the share ``counted / total`` (Wilson's score interval): its lower and upper end, each 0 to 1.

    A total of 0 gives (0, 1).
    """
    if not total:
        return 0.0, 1.0
    share = counted / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def _sum(term: float, start: int, end: int, runs: int, other_runs: int, all_failed: int, step: int) -> float:
    """The terms of the hypergeometric distribution from ``start`` to ``end``, each from the one before."""
    total, count = term, start
    while count != end:
        if step > 0:
            term *= (runs - count) * (all_failed - count) / ((count + 1) * (other_runs - all_failed + count + 1))
        else:
            term *= count * (other_runs - all_failed + count) / ((runs - count + 1) * (all_failed - count + 1))
        count += step
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return total


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
