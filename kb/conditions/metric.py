"""The condition `metric` as an author writes it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kb.compiled_conditions import MetricCondition
from kb.conditions import rarity
from kb.conditions.base import ConditionExample, ConditionForm, Meaning, Numbering, OneOrMore, as_list

Shape = Literal[
    "seen", "nan", "inf", "nonfinite", "finite", "zero", "nonzero", "stuck", "constant", "falling", "rising",
    "climbing", "exploding", "frozen", "repeating", "above", "below", "equal",
]  # fmt: skip


class MetricForm(ConditionForm):
    """A metric series (name, or a shell pattern such as ``rewards/*``), and what it does.

    ``value`` goes with above, below and equal. ``every`` asks ``is`` of all points instead of at least one. ``after_finite``
    asks that finite points came before. ``beside`` conditions must hold in the same printed record.
    """

    KIND = "metric"
    KEYS = ("metric",)
    MEANING = Meaning(
        write="`metric: NAME`, `is: SHAPE`",
        holds=(
            "A metric of this name did this. Names may hold `*` (`rewards/*`). `value` is the number for `above`, `below` "
            "and `equal`. `every: true` asks it of every point, `points: N` of a series of at least N points, "
            "`after_finite: true` after finite points came first, and `beside: [conditions]` of the same printed record. "
            "`climbing` never falls below its start; `frozen` is one value, to the last digit, until the end."
        ),
        contradicted="The log has the metric, and it did not do this.",
    )
    EXAMPLE = ConditionExample(
        condition={"metric": "loss", "is": "nan"},
        held="{'loss': nan, 'epoch': 0.1}",
        contradicted="{'loss': 2.31, 'epoch': 0.1}",
    )

    metric: OneOrMore
    is_: Annotated[Shape, Field(alias="is")]
    value: float | int | None = None
    every: bool = False
    after_finite: bool = False
    beside: list[MetricForm] = []
    points: Annotated[int, Field(ge=1)] = 1

    @model_validator(mode="after")
    def _value(self) -> MetricForm:
        if (self.is_ in ("above", "below", "equal")) != (self.value is not None):
            raise ValueError("`value` belongs to `is: above`, `below` or `equal`, and they need it")
        return self

    def compile(self, number: Numbering) -> MetricCondition:
        return {
            "kind": "metric",
            "names": as_list(self.metric),
            "is": self.is_,
            "value": self.value,
            "every": self.every,
            "after_finite": self.after_finite,
            "points": self.points,
            "beside": [other.compile(number) for other in self.beside],
        }

    def signals(self) -> list[str]:
        return metric_signals(as_list(self.metric), self.is_)

    def rarity(self) -> int:
        return rarity.ODD_METRIC if self.is_ in ODD else rarity.METRIC


ODD = {"nan": "nonfinite", "inf": "nonfinite", "nonfinite": "nonfinite", "zero": "zero"}
"""Shapes of values that most logs lack, with the signal of each."""


def metric_signals(names: list[str], shape: str) -> list[str]:
    """Signals of which one is in every log whose metrics of these names show the shape (`match.engine` finds them)."""
    signal = ODD.get(shape, "metric")
    return [signal if any("*" in name for name in names) else f"{signal}:{name}" for name in names]
