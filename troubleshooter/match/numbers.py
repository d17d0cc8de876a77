"""Conditions on metrics."""

from __future__ import annotations

from collections.abc import Iterator

from troubleshooter.match import series
from troubleshooter.match.context import Condition, Context
from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.observe.model import Point, finite


def metric(condition: Condition, context: Context) -> Outcome:
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


def held(condition: Condition, context: Context) -> bool:
    """Whether `metric` holds."""
    for name, points in context.observations.series(condition["names"]):
        if len(points) >= condition["points"] and _shown(condition, name, points, context) is not None:
            return True
    return False


def may_hold(condition: Condition, context: Context) -> bool:
    """Whether a series of one of the names has enough points, and one that shows the shape."""
    for name, points in context.observations.series(condition["names"]):
        if len(points) >= condition["points"] and _first(condition, name, points, context) is not None:
            return True
    return False


def _said(condition: Condition) -> str:
    if "said" not in condition:  # kept there: it is the same for every log
        value = "" if condition["value"] is None else f" {condition['value']}"
        condition["said"] = f"metric {' or '.join(condition['names'])} is {condition['is']}{value}"
    said: str = condition["said"]
    return said


def _first(condition: Condition, name: str, points: list[Point], context: Context) -> Point | None:
    """The first point that shows the condition's shape, looked for once a log: many entries ask the same."""
    seen = context.observations
    known = seen.shapes
    shape, value = condition["is"], condition["value"]
    key = (name, shape, value)
    if key not in known:
        absent = series.ruled_out(shape, value, seen.bounds(name))
        at = None if absent else series.first(seen.values(name), shape, value)
        known[key] = None if at is None else points[at]
    return known[key]


def _shown(condition: Condition, name: str, points: list[Point], context: Context) -> Point | None:
    point = _first(condition, name, points, context)
    if point is None:
        return None
    shape, value = condition["is"], condition["value"]
    if condition["every"] and not series.every(context.observations.values(name), shape, value):
        return None
    if condition["beside"] and shape in series.POINTWISE:
        shows = series.POINTWISE[shape]
        candidates: Iterator[Point] = (p for p in points if shows(p.value, value or 0.0))
    else:
        candidates = iter([point])
    if condition["after_finite"]:
        good = next((p.record for p in points if finite(p.value) and p.value != 0), None)
        candidates = (p for p in candidates if good is not None and good < p.record)
    for point in candidates:
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
            else series.first([here.value], shape, value) is not None
        ):
            return True
    return False
