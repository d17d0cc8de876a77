"""Conditions on metrics."""

from __future__ import annotations

from collections.abc import Iterator

from troubleshooter.match import series
from troubleshooter.match.context import Condition, Context
from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.observe.model import Point


def metric(condition: Condition, context: Context) -> Outcome:
    """Whether a series of numbers shows the shape."""
    said = f"metric {' or '.join(condition['names'])} is {condition['is']}"
    if condition["value"] is not None:
        said += f" {condition['value']}"
    known = False
    for name, points in context.observations.series(condition["names"]):
        if len(points) < condition["points"]:
            continue
        known = True
        if (point := _shown(condition, points, context)) is not None:
            why = (
                f"{name} = {point.value:g}"
                if condition["is"] in ("above", "below", "equal")
                else f"{name} {condition['is']}"
            )
            return Outcome("held", said, [Evidence(point.line, point.line.text, why)])
    return Outcome("contradicted" if known else "unseen", said)


def _shown(condition: Condition, points: list[Point], context: Context) -> Point | None:
    shape, value = condition["is"], condition["value"]
    if condition["every"] and not series.every(points, shape, value):
        return None
    if condition["beside"] and shape in series.POINTWISE:
        shows = series.POINTWISE[shape]
        candidates: Iterator[Point] = (p for p in points if shows(p.value, value or 0.0))
    else:
        point = series.first(points, shape, value)
        candidates = iter([point] if point is not None else [])
    good = next((p.record for p in points if series.finite(p.value) and p.value != 0), None)
    for point in candidates:
        if condition["after_finite"] and (good is None or good >= point.record):
            continue
        if all(_beside(other, point, context) for other in condition["beside"]):
            return point
    return None


def _beside(condition: Condition, point: Point, context: Context) -> bool:
    shape, value = condition["is"], condition["value"] or 0.0
    for name, _ in context.observations.series(condition["names"]):
        here = context.observations.beside(name, point)
        if here is not None and (
            series.POINTWISE[shape](here.value, value)
            if shape in series.POINTWISE
            else series.first([here], shape, value)
        ):
            return True
    return False
