"""The outcome of a pattern's match, and the exception that a line belongs to."""

from __future__ import annotations

from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.match.regex import RegexMatch
from troubleshooter.observe.model import Failure
from troubleshooter.read.line import Line


def held(said: str, line: Line, text: str, found: RegexMatch, why: str) -> Outcome:
    """The outcome of a condition whose pattern matched."""
    return Outcome("held", said, [Evidence(line, text, why)], dict(found.captured), 0, len(found.said))


def owner(line: Line, failures: list[Failure]) -> Failure | None:
    """The exception whose message this line is part of."""
    for failure in failures:
        first = failure.line
        if first.file == line.file and first.stream == line.stream and failure.exception and not failure.lacks_message:
            span = failure.message.count("\n")
            if first.number <= line.number <= first.number + span and (span or first.text == line.text):
                return failure
    return None
