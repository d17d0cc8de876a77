"""Whether lines of the log match."""

from __future__ import annotations

from collections.abc import Iterator

from kb.compiled_conditions import LineCondition
from troubleshooter.match.context import Context
from troubleshooter.match.matched import held, owner
from troubleshooter.match.outcome import Anchor, Outcome, quoted
from troubleshooter.match.regex import RegexMatch, search
from troubleshooter.read.line import Line


def evaluate(condition: LineCondition, context: Context) -> Outcome:
    """Whether enough lines match one of the patterns."""
    said = "line " + " or ".join(quoted(p["re"]) for p in condition["patterns"])
    hits: list[tuple[Line, RegexMatch]] = []
    for pattern in condition["patterns"]:
        for line in context.candidate_lines(pattern):
            if found := search(pattern["re"], line.folded):
                hits.append((line, found))
    if len({(line.file, line.number) for line, _ in hits}) < condition["at_least"]:
        return Outcome("unseen", said)
    line, found = hits[0]
    return held(said, line, line.text, found, "the line")


def anchors(condition: LineCondition, context: Context) -> Iterator[tuple[Anchor, Outcome]]:
    """The lines that a line condition may be about, each with the exception it belongs to. There are none if fewer than
    ``at_least`` lines match."""
    if condition["at_least"] > 1 and evaluate(condition, context).state != "held":
        return
    for pattern in condition["patterns"]:
        for line_ in context.candidate_lines(pattern):
            if found := search(pattern["re"], line_.folded):
                failure = owner(line_, context.observations.failures)
                yield (
                    Anchor(failure, line_),
                    held(f"line {quoted(pattern['re'])}", line_, line_.text, found, "the line"),
                )
