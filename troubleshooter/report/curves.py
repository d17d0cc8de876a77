"""Training curves: the metrics that people look at, with few enough points to draw, and the moment at which they went
wrong."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kb import lazy
from troubleshooter.observe.model import Point, all_finite, finite
from troubleshooter.report.model import Report

if TYPE_CHECKING:
    from troubleshooter.report.parts import Sample

POINTS = 200
SERIES = 8
_ORDER = (
    r"loss", r"grad_norm", r"learning_rate", r"eval_loss", r"rewards?", r"rewards?[/_].+", r"kl|.*[/_]kl",
    r"entropy|.*[/_]entropy", r"perplexity|ppl", r".*loss.*", r".*(?:accuracy|reward|margin).*",
)  # fmt: skip
_CHARTED = tuple(lazy.compile(pattern) for pattern in _ORDER)
_MANY = 8
"""A value this many times the median before it is a jump."""


class Curve(NamedTuple):
    """One metric as it is drawn: ``values`` has None where the log printed NaN or infinity."""

    name: str
    x: list[float]
    values: list[float | None]
    lines: list[int]
    by_step: bool
    wrong: int | None
    """The index of the point at which it went wrong."""
    why: str
    """What is wrong at that point: nan, zero, jump, evidence; "" if nothing is."""


@lru_cache(maxsize=4096)
def place(name: str) -> int | None:
    """The position of a metric in the order in which people look at metrics; None for one that is not drawn."""
    return next((number for number, pattern in enumerate(_CHARTED) if pattern.fullmatch(name)), None)


def charted(names: list[str]) -> list[str]:
    """The metrics to draw, the most looked at first."""
    ranked = [(rank, name) for name in names if (rank := place(name)) is not None]
    return [name for _, name in sorted(ranked)[:SERIES]]


def sample(points: list[Point]) -> Sample:
    """At most `POINTS` points: extremes and the first of each run of NaN are kept. For the report's ``metrics``."""
    chosen = _chosen(points) if len(points) > POINTS else points
    out: Sample = {
        "values": [p.value if p.value - p.value == 0 else None for p in chosen],
        "lines": [p.line.number for p in chosen],
    }
    steps = [p.step for p in chosen]
    known = [s for s in steps if s is not None]
    if len(known) == len(steps) and all(a < b for a, b in pairwise(known)):
        out["steps"] = known
    else:
        out["records"] = [p.record for p in chosen]
    return out


def _chosen(points: list[Point]) -> list[Point]:
    """Of each of 98 stretches the lowest and the highest, or the first that is no number; the first and the last point."""
    stretches = POINTS // 2 - 2
    values = [p.value for p in points]
    kept = {0, len(points) - 1}
    for number in range(stretches):
        start, stop = number * len(points) // stretches, (number + 1) * len(points) // stretches
        stretch = values[start:stop]
        bad = first_bad(stretch)
        if bad is not None:
            kept.add(start + bad)
            stretch = stretch[:bad]
        if stretch:
            kept.add(start + stretch.index(min(stretch)))
            if bad is None:
                kept.add(start + stretch.index(max(stretch)))
    return [points[i] for i in sorted(kept)]


def first_bad(values: list[float]) -> int | None:
    """The index of the first value that is not a finite number."""
    if all_finite(values):
        return None
    return next((i for i, value in enumerate(values) if not finite(value)), None)


def curves(report: Report) -> list[Curve]:
    """The curves of a report that have at least two points, with the moment where each went wrong."""
    shown = {e.line for d in report.diagnoses[:1] if d.kind == "failure" for e in d.evidence}
    found = []
    for name in charted(list(report.metrics)):
        series = report.metrics[name]
        values: list[float | None] = series.get("values", [])
        if len(values) < 2:
            continue
        steps = series.get("steps")
        records = series.get("records") or range(1, len(values) + 1)
        wrong, why = moment(name, values, series["lines"], shown)
        x = [float(at) for at in steps or records]
        found.append(Curve(name, x, values, series["lines"], bool(steps), wrong, why))
    return found


def moment(name: str, values: list[float | None], lines: list[int], evidence: set[int]) -> tuple[int | None, str]:
    """The point at which a curve went wrong: it is no number, falls to exactly zero or jumps; else a point that the
    diagnosis names."""
    for index, value in enumerate(values):
        if value is None:
            return index, "nan"
    numbers = [v for v in values if v is not None]
    about_loss = name == "loss" or name.endswith("grad_norm")
    if about_loss and numbers[-1] == 0.0 and any(numbers):
        last = max(i for i, v in enumerate(numbers) if v != 0.0)
        return last + 1, "zero"
    if about_loss:
        for index in range(5, len(numbers)):
            before = sorted(abs(v) for v in numbers[max(0, index - 50) : index])
            middle = before[len(before) // 2]
            after = numbers[index : index + 3]
            if middle > 0 and all(abs(v) > _MANY * middle for v in after):
                return index, "jump"
    return next(((i, "evidence") for i, line in enumerate(lines) if line in evidence), (None, ""))
