"""Conditions evaluated against observations: held, contradicted or not seen, with the lines that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kb.compiled import TOLERATED
from troubleshooter.match import facts, numbers, place, tables, words
from troubleshooter.match.context import Condition, Context
from troubleshooter.match.outcome import Anchor, Outcome, State


def evaluate(condition: Condition, context: Context) -> Outcome:
    """The outcome of one condition, of any kind."""
    return _KINDS[condition["kind"]](condition, context)


def anchors(condition: Condition, context: Context) -> Iterator[tuple[Anchor, Outcome]]:
    """Everything in the log that a message, line or combination of them may be about: exceptions first."""
    kind = condition["kind"]
    if kind == "message":
        yield from words.message_anchors(condition, context)
    elif kind == "line":
        yield from words.line_anchors(condition, context)
    elif kind == "any":
        for part in condition["parts"]:
            yield from anchors(part, context)
    elif kind == "all":
        for part in condition["parts"]:
            if part["kind"] in ("message", "line", "any"):
                yield from anchors(part, context)
                return


def anchors_on(condition: Condition) -> bool:
    """Whether the condition names something that a symptom can be about."""
    if condition["kind"] in ("any", "all"):
        return any(anchors_on(part) for part in condition["parts"])
    return condition["kind"] in ("message", "line")


# --- combinations ---


def _any(condition: Condition, context: Context) -> Outcome:
    parts = [evaluate(part, context) for part in condition["parts"]]
    held = [p for p in parts if p.state == "held"]
    if held:
        best = max(held, key=lambda p: (p.length, -p.parts_unseen))
        return Outcome("held", best.said, best.evidence, best.captured, best.parts_unseen, best.length, parts)
    state: State = "contradicted" if all(p.state == "contradicted" for p in parts) else "unseen"
    return Outcome(state, "any of: " + "; ".join(p.said for p in parts), parts=parts)


def _all(condition: Condition, context: Context) -> Outcome:
    parts: list[Outcome] = []
    inner = context
    for part in condition["parts"]:
        outcome = evaluate(part, inner)
        parts.append(outcome)
        if outcome.captured:
            merged = {**inner.captured, **outcome.captured}
            inner = Context(context.observations, context.knowledge, context.base, context.anchor, merged)
    said = "all of: " + "; ".join(p.said for p in parts)
    if any(p.state == "contradicted" for p in parts):
        return Outcome("contradicted", said, parts=parts)
    if any(p.state == "unseen" and not tolerated(c) for p, c in zip(parts, condition["parts"], strict=True)):
        return Outcome("unseen", said, parts=parts)
    unseen = sum(p.parts_unseen + (p.state == "unseen") for p in parts)
    evidence = [e for p in parts for e in p.evidence]
    captured = {k: v for p in parts for k, v in p.captured.items()}
    return Outcome("held", said, evidence, captured, unseen, sum(p.length for p in parts), parts)


def excluding(condition: Condition, context: Context) -> Outcome:
    """A condition as an exclusion: parts that were not seen are passed over in what is required, but exclude nothing."""
    outcome = evaluate(condition, context)
    if outcome.state == "held" and not _seen(condition, outcome):
        return Outcome("unseen", outcome.said, parts=outcome.parts)
    return outcome


def _seen(condition: Condition, outcome: Outcome) -> bool:
    """Whether a condition that held did so by what the log shows, not by what it lacks."""
    pairs = zip(condition.get("parts", ()), outcome.parts, strict=False)
    if condition["kind"] == "all":
        return all(part.state == "held" and _seen(c, part) for c, part in pairs)
    return condition["kind"] != "any" or any(part.state == "held" and _seen(c, part) for c, part in pairs)


def _not(condition: Condition, context: Context) -> Outcome:
    part = evaluate(condition["part"], context)
    said = f"not: {part.said}"
    if part.state == "held":
        return Outcome("contradicted", said, part.evidence)
    # What was never printed is absent; what a paste rarely holds (frames, versions, GPUs) is only unknown.
    absent = part.state == "contradicted" or not tolerated(condition["part"])
    return Outcome("held" if absent else "unseen", said)


def tolerated(condition: Condition) -> bool:
    """Kinds of conditions that a paste often lacks: not seen, in ``require``, they only lower the confidence."""
    return condition["kind"] in TOLERATED or condition["kind"] == "not"


_KINDS: dict[str, Callable[[Condition, Context], Outcome]] = {
    "message": words.message, "line": words.line, "frame": place.frame, "metric": numbers.metric, "version": facts.version, "package": facts.package,
    "gpu": facts.gpu, "flag": facts.flag, "platform": facts.platform, "exit": facts.exit, "ends": facts.ends, "ranks": place.ranks, "phase": place.phase,
    "relation": tables.relation, "row": tables.row, "any": _any, "all": _all, "not": _not,
}  # fmt: skip
