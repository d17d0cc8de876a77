"""Whether a series of numbers shows a shape."""

from __future__ import annotations

from collections.abc import Iterator

from kb.compiled_conditions import MetricCondition
from troubleshooter.match import series
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.observe.model import Point, Record, finite


def evaluate(condition: MetricCondition, context: Context) -> Outcome:
    """Whether a series of numbers shows the shape."""
    said = _said(condition)
    known = False
    for name, points in context.observations.series(condition["names"]):
        if len(points) < condition["points"]:
            continue
        known = True
        if (point := _shown(condition, name, points, context)) is not None:
            why = (
                f"{name} = {point.value:g}"
                if condition["is"] in ("above", "below", "equal")
                else f"{name} {condition['is']}"
            )
            return Outcome("held", said, [Evidence(point.line, point.line.text, why)])
    return Outcome("contradicted" if known else "unseen", said)


def may_hold(condition: MetricCondition, context: Context) -> bool:
    """Whether a series is long enough and shows the shape; whether the condition holds may depend on more."""
    for name, points in context.observations.series(condition["names"]):
        if len(points) >= condition["points"] and _first(condition, name, points, context) is not None:
            return True
    return False


def _said(condition: MetricCondition) -> str:
    value = "" if condition["value"] is None else f" {condition['value']}"
    return f"metric {' or '.join(condition['names'])} is {condition['is']}{value}"


def _first(condition: MetricCondition, name: str, points: list[Point], context: Context) -> Point | None:
    """The first point that shows the condition's shape. The answer is kept for the log, because many entries ask for
    the same."""
    seen = context.observations
    known = seen.points_by_shape
    shape, value = condition["is"], condition["value"]
    key = (name, shape, value)
    if key not in known:
        absent = series.ruled_out(shape, value, seen.bounds(name))
        at = None if absent else series.first(seen.values(name), shape, value)
        known[key] = None if at is None else points[at]
    return known[key]


def _shown(condition: MetricCondition, name: str, points: list[Point], context: Context) -> Point | None:
    point = _first(condition, name, points, context)
    if point is None:
        return None
    shape, value = condition["is"], condition["value"]
    if condition["every"] and not series.every(context.observations.values(name), shape, value):
        return None
    beside = [_records(other, context) for other in condition["beside"]]
    if not all(beside):
        return None
    if beside and shape in series.POINTWISE:
        shows = series.POINTWISE[shape]
        candidates: Iterator[Point] = (p for p in points if shows(p.value, value or 0.0))
    else:
        candidates = iter([point])
    if condition["after_finite"]:
        good = next((p.record for p in points if finite(p.value) and p.value != 0), None)
        candidates = (p for p in candidates if good is not None and good < p.record)
    for point in candidates:
        if all((point.line.file, point.record) in records for records in beside):
            return point
    return None


def _records(condition: MetricCondition, context: Context) -> frozenset[Record]:
    """The printed records in which a metric shows the shape. The answer is kept for the log, because many entries ask
    for the same."""
    seen = context.observations
    shape, value = condition["is"], condition["value"]
    key = (tuple(condition["names"]), shape, value)
    if (known := seen.records_by_shape.get(key)) is not None:
        return known
    pointwise = series.POINTWISE.get(shape)
    found = frozenset(
        record
        for name, _ in seen.series(condition["names"])
        if pointwise is None or not series.ruled_out(shape, value, seen.bounds(name))
        for record, point in seen.records(name).items()
        if (
            pointwise(point.value, value or 0.0)
            if pointwise is not None
            else series.first([point.value], shape, value or 0.0) is not None
        )
    )
    seen.records_by_shape[key] = found
    return found
