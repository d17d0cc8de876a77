"""Evaluates conditions against observations: the outcome is held, contradicted or not seen, with the lines that show
it.

There is one module for each kind, named like its form in `kb.conditions`. `EVALUATORS` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kb.compiled_conditions import AllCondition, Condition
from troubleshooter.match.conditions import (
    all_of,
    any_of,
    ends,
    exit,
    flag,
    frame,
    gpu,
    line,
    message,
    metric,
    not_,
    package,
    phase,
    platform,
    ranks,
    relation,
    row,
    value,
    version,
)
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Anchor, Outcome


def evaluate(condition: Condition, context: Context) -> Outcome:
    """The outcome of one condition, of any kind."""
    return EVALUATORS[condition["kind"]](condition, context)


EVALUATORS: dict[str, Callable[[Any, Context], Outcome]] = {
    "message": message.evaluate,
    "line": line.evaluate,
    "frame": frame.evaluate,
    "value": value.evaluate,
    "metric": metric.evaluate,
    "version": version.evaluate,
    "package": package.evaluate,
    "gpu": gpu.evaluate,
    "flag": flag.evaluate,
    "platform": platform.evaluate,
    "exit": exit.evaluate,
    "ends": ends.evaluate,
    "ranks": ranks.evaluate,
    "phase": phase.evaluate,
    "relation": relation.evaluate,
    "row": row.evaluate,
    "any": lambda condition, context: any_of.combine(condition, context, evaluate),
    "all": lambda condition, context: all_of.combine(condition, context, evaluate),
    "not": lambda condition, context: not_.combine(condition, context, evaluate),
}
"""The function that evaluates a condition, by its kind. Kinds that combine conditions get `evaluate` for their parts.
"""


ANCHORING: dict[str, Callable[[Any, Context], Iterator[tuple[Anchor, Outcome]]]] = {
    "message": message.anchors,
    "line": line.anchors,
}
"""By kind, for the kinds that name what a symptom is about: the function that finds all such exceptions and lines. Each is
tried by itself, together with the symptom's other conditions. A symptom without such a condition is about the whole log."""


def anchors(condition: Condition, context: Context) -> Iterator[tuple[Anchor, Outcome]]:
    """Everything in the log that the condition may be about: exceptions first.

    What a part of an `all` is about counts only together with the other parts: the outcome is that of the whole.
    """
    if condition["kind"] in ANCHORING:
        yield from ANCHORING[condition["kind"]](condition, context)
    elif condition["kind"] == "any":
        for part in condition["parts"]:
            yield from anchors(part, context)
    elif condition["kind"] == "all" and (own := next((p for p in condition["parts"] if anchors_on(p)), None)):
        for anchor, found in anchors(own, context):
            if (whole := _with_part(condition, own, anchor, found, context)).state == "held":
                yield anchor, whole


def _with_part(condition: AllCondition, part: Condition, anchor: Anchor, found: Outcome, context: Context) -> Outcome:
    """The outcome of a combination if one part is about this exception or line."""
    about = Context(context.observations, context.knowledge, context.base, anchor, dict(context.captured))
    return all_of.combine(condition, about, lambda each, inner: found if each is part else evaluate(each, inner))


def anchors_on(condition: Condition) -> bool:
    """Whether the condition names something that a symptom can be about."""
    if condition["kind"] == "any" or condition["kind"] == "all":
        return any(anchors_on(part) for part in condition["parts"])
    return condition["kind"] in ANCHORING


def excluding(condition: Condition, context: Context) -> Outcome:
    """The outcome of a condition that excludes its symptom.

    A combination may hold in `require` although some of its parts were not seen. That is not enough to exclude
    anything, so such a combination counts as not seen here.
    """
    outcome = evaluate(condition, context)
    if outcome.state == "held" and not _seen(condition, outcome):
        return Outcome("unseen", outcome.said, parts=outcome.parts)
    return outcome


def _seen(condition: Condition, outcome: Outcome) -> bool:
    """True if a held condition holds because of something in the log, not because something is missing."""
    if condition["kind"] == "all" or condition["kind"] == "any":
        pairs = zip(condition["parts"], outcome.parts, strict=False)
        shown = [part.state == "held" and _seen(c, part) for c, part in pairs]
        return all(shown) if condition["kind"] == "all" else any(shown)
    return True
