"""A first look at a symptom: whether what it requires can hold on this log at all, from words and numbers alone.

Common words ("has no attribute") call up many entries, and a log of metrics all that ask for numbers; nearly all of them
are ruled out here, before anything is tried on each exception and line. A look errs on one side only: what it rules out
cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from troubleshooter.match import numbers, words
from troubleshooter.match.conditions import tolerated
from troubleshooter.match.context import Condition, Context

Look = Callable[[Condition, Context], bool]


def worth_a_try(symptom: dict[str, Any], context: Context) -> bool:
    """Whether a symptom can hold: what it requires may, and no metric excludes it. Numbers are looked at first: they cost
    less than words."""
    if (looks := symptom.get("looks")) is None:  # kept there: they are the same for every log
        looks = symptom["looks"] = _looks(symptom)
    for look, condition in looks:  # noqa: SIM110 (no generator here: this runs for every symptom of every log)
        if not look(condition, context):
            return False
    return True


def _looks(symptom: dict[str, Any]) -> list[tuple[Look, Condition]]:
    required = [
        (_LOOKS[condition["kind"]], condition) for condition in symptom["require"] if condition["kind"] in _LOOKS
    ]
    excluded = [(_absent, condition) for condition in symptom["exclude"] if condition["kind"] == "metric"]
    return sorted([*required, *excluded], key=lambda look: look[1]["kind"] != "metric")


def _absent(condition: Condition, context: Context) -> bool:
    return not numbers.held(condition, context)


def _may_hold(required: Iterable[Condition], context: Context) -> bool:
    """Whether all of these conditions may hold, or be passed over where a paste often lacks what they ask."""
    for condition in required:
        look = _LOOKS.get(condition["kind"])
        if look is not None and not look(condition, context):
            return False
    return True


def _any(condition: Condition, context: Context) -> bool:
    return any(_may_hold((part,), context) for part in condition["parts"])


def _all(condition: Condition, context: Context) -> bool:
    return _may_hold((part for part in condition["parts"] if not tolerated(part)), context)


def _not(condition: Condition, context: Context) -> bool:
    part = condition["part"]
    return part["kind"] != "metric" or _absent(part, context)


_LOOKS: dict[str, Look] = {
    "message": words.message_may_hold, "line": words.line_may_hold, "metric": numbers.may_hold, "any": _any, "all": _all, "not": _not,
}  # fmt: skip
