"""Conditions about where the anchor stands: frames, the phase of the run, the ranks that fail."""

from __future__ import annotations

from troubleshooter.match.context import Condition, Context
from troubleshooter.match.outcome import Evidence, Outcome, State
from troubleshooter.observe import phases
from troubleshooter.paths import below_site_packages


def frame(condition: Condition, context: Context) -> Outcome:
    """Whether a frame of the anchor's traceback is in one of the files and functions."""
    said = f"frame {' or '.join(condition['paths'])}" + (" innermost" if condition["at"] == "innermost" else "")
    failure = context.anchor.failure if context.anchor else None
    if failure is None or not failure.frames:
        return Outcome("unseen", said)
    frames = failure.frames[-1:] if condition["at"] == "innermost" else failure.frames
    for one in reversed(frames):
        path = one.path
        if any(part in path for part in condition["paths"]) and (
            not condition["functions"] or one.function.rpartition(".")[2] in condition["functions"]
        ):
            text = f"{below_site_packages(path)}:{one.line} in {one.function}"
            return Outcome("held", said, [Evidence(one.seen or failure.start, text, "the frame")])
    cut = failure.cut and condition["at"] == "anywhere"
    return Outcome("unseen" if cut else "contradicted", said)


def phase(condition: Condition, context: Context) -> Outcome:
    """Whether the run was in one of the phases."""
    wanted = set(condition["phases"])
    said = "phase " + " or ".join(sorted(wanted))
    failure = context.anchor.failure if context.anchor else None
    if failure is not None and (told := phases.of_failure(failure)):
        if told & wanted:
            return Outcome("held", said)
        return Outcome("contradicted", said)
    before = [
        (phase, line)
        for phase, line in context.observations.phases
        if context.anchor is None or (line.file, line.number) <= (context.anchor.line.file, context.anchor.line.number)
    ]
    if not before:
        return Outcome("unseen", said)
    phase, line = before[-1]
    if phase in wanted:
        return Outcome("held", said, [Evidence(line, line.text, "what was printed last before it")])
    return Outcome("unseen", said)


def ranks(condition: Condition, context: Context) -> Outcome:
    """Whether one rank, or the first of several, shows the anchor."""
    said = f"ranks: {condition['ranks']}"
    failure = context.anchor.failure if context.anchor else None
    if failure is None or not failure.ranks:
        return Outcome("unseen", said)
    wanted = condition["ranks"]
    if wanted == "first":
        others = [f for f in context.observations.failures if f.ranks and f is not failure and f.role == "initiating"]
        state: State = "held" if all(failure.line.number <= f.line.number for f in others) else "contradicted"
    else:
        state = "held" if (len(failure.ranks) == 1) == (wanted == "one") else "contradicted"
    return Outcome(state, said, [Evidence(failure.line, failure.line.text, f"ranks {sorted(failure.ranks)}")])
