"""Triggering entries errs on one side only: an entry that is not triggered cannot hold."""

from __future__ import annotations

from fnmatch import fnmatchcase

from hypothesis import given, settings
from hypothesis import strategies as st

from kb.conditions import MetricForm
from kb.wild import fits
from troubleshooter.match import series
from troubleshooter.match.conditions import evaluate
from troubleshooter.match.context import Context
from troubleshooter.match.engine import pseudo_literals
from troubleshooter.observe.model import Point
from troubleshooter.observe.observations import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.line import Line

NAMES = ("loss", "grad_norm", "rewards/chosen", "kl")
ASKED = (*NAMES, "rewards*", "*loss", "k?")
SHAPES = (*series.POINTWISE, *series.WHOLE)
VALUES = st.sampled_from([0.0, -0.0, 1.5, -2.0, 1e-9, 300.0, float("nan"), float("inf"), float("-inf")])


@settings(max_examples=300)
@given(
    st.dictionaries(st.sampled_from(NAMES), st.lists(VALUES, min_size=1, max_size=8)),
    st.lists(st.sampled_from(ASKED), min_size=1, max_size=3),
    st.sampled_from(SHAPES),
    VALUES,
)
def test_a_metric_that_holds_calls_its_entry_up(
    tool: Diagnoser, printed: dict[str, list[float]], names: list[str], shape: str, value: float
) -> None:
    seen = Observations()
    for name, values in printed.items():
        seen.metrics[name] = [Point(value, n, Line(f"{name} {value}", n)) for n, value in enumerate(values, 1)]
    given = {"value": value} if shape in ("above", "below", "equal") else {}
    condition = MetricForm.model_validate({"metric": names, "is": shape, **given})
    if evaluate(condition.compile(lambda text: 0), Context(seen, tool.knowledge)).state == "held":
        assert set(condition.signals()) & set(pseudo_literals(seen))


@settings(max_examples=500)
@given(st.text("ab/*?[]-", max_size=6), st.text("ab/*?[]-", max_size=6))
def test_names_with_a_star_fit_as_they_do_in_the_standard_library(name: str, pattern: str) -> None:
    assert fits(name, pattern) == fnmatchcase(name, pattern)
