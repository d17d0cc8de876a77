"""Whether an exception, or a printed line, contains a message."""

from __future__ import annotations

from collections.abc import Iterator

from kb import lazy
from kb.compiled_conditions import MessageCondition, Pattern
from troubleshooter.match.context import Context, contains_required
from troubleshooter.match.matched import held, owner
from troubleshooter.match.outcome import Anchor, Evidence, Outcome, quoted
from troubleshooter.match.regex import RegexMatch, different, search
from troubleshooter.observe.model import Failure
from troubleshooter.read.line import Line

# A notebook shows the source around the line that raised: numbered, and without its arrow.
_OTHER_RAISE = lazy.compile(r"\s*\d{1,5}\s+raise\b")


_NUMBERED = lazy.compile(r"\s*\d{1,5}\s")


# A logger's line that reports no trouble, its level behind a time or a name:   [2025-01-01 10:00:00] [INFO] …   INFO:root:…
_QUIET = lazy.compile(r"(?:\S{1,60}\s{1,3}){0,6}?\[?(?:INFO|DEBUG)[\]:\s|]")


def evaluate(condition: MessageCondition, context: Context) -> Outcome:
    """Whether an exception or a printed line matches one of the patterns."""
    own = context.anchor.failure if context.anchor else None
    best: Outcome | None = None
    for anchor, outcome in anchors(condition, context):
        if anchor.failure is not None and anchor.failure is own:
            return outcome
        best = best or outcome
    return best or Outcome("unseen", _said(condition))


def anchors(condition: MessageCondition, context: Context) -> Iterator[tuple[Anchor, Outcome]]:
    """Exceptions, then printed lines, that match one of the patterns."""
    names, patterns = condition["exception"], condition["patterns"]
    said = _said(condition)
    failures = context.observations.failures
    for failure in failures:
        if not failure.exception or (names and not _type_in(failure, names)):
            continue
        if not patterns:
            evidence = Evidence(failure.line, failure.line.text, "the exception")
            yield Anchor(failure, failure.line), Outcome("held", said, [evidence], {}, 0, len(failure.type))
            continue
        for found in _in_message(patterns, failure, context):
            yield Anchor(failure, failure.line), held(said, failure.line, failure.line.text, found, "the exception")
    raised = names and _others_raised(failures, names)
    for pattern in patterns:
        for line in context.candidate_lines(pattern):
            if owner(line, failures) is not None or _OTHER_RAISE.match(line.text) or _is_source(line, failures):
                continue  # an exception's own line was tried above; a line of source code is not a message
            if names and (_QUIET.match(line.text) or (raised and not any(name in line.text for name in names))):
                continue
            if (match := search(pattern["re"], line.folded)) is not None:
                outcome = held(said, line, line.text, match, "the message, printed outside of a traceback")
                outcome.parts_unseen = 1 if names else 0
                yield Anchor(None, line), outcome


def _said(condition: MessageCondition) -> str:
    words = " or ".join(quoted(p["re"]) for p in condition["patterns"])
    types = " or ".join(condition["exception"])
    return f"{types} {words}".strip() if types else f"message {words}"


def _others_raised(failures: list[Failure], names: list[str]) -> bool:
    """Whether the log shows exceptions, but none of these types. Then a line that does not name the type belongs to
    another failure."""
    shown = [f for f in failures if f.exception and f.role == "initiating" and not f.exception.startswith(_FOREIGN)]
    return bool(shown) and not any(_type_in(f, names) for f in failures)


def _in_message(patterns: list[Pattern], failure: Failure, context: Context) -> Iterator[RegexMatch]:
    """The matches in an exception's message: one, or several if they captured different values, as in a message that
    lists many parameters."""
    for pattern in patterns:
        if not contains_required(failure.plain, pattern):
            continue
        for text in failure.folded:
            if found := different(pattern["re"], text):
                yield from found
                return


_TEXT_IN_CODE = ("raise ", 'f"', "f'", '"', "'", "logger.", "warnings.warn(", "print(")


_COMMENT = "  # "
"""What parts code from a comment behind it, such as torch's ``fetch(index)  # may raise StopIteration``."""


_FOREIGN = ("java.", "javax.", "kotlin.", "scala.", "org.apache.", "System.")
"""Prefixes of exceptions of other languages whose last part may equal the name of a Python exception."""


def _type_in(failure: Failure, names: list[str]) -> bool:
    if failure.exception.startswith(_FOREIGN):
        return False
    if failure.type in names:
        return True
    inner = failure.exception.partition("(")[2].rstrip(")")  # RayTaskError(ValueError)
    return inner.rpartition(".")[2] in names if inner else False


def _is_source(line: Line, failures: list[Failure]) -> bool:
    """Whether the line is source code, shown in a traceback, that contains the text of a message; the message itself is
    printed below it."""
    shown = _NUMBERED.match(line.text)  # a notebook's source, without its arrow
    if not (shown or line.text.startswith("    ")):
        return False
    code = line.text[shown.end() if shown else 0 :].lstrip()
    # An assertion may print no message below its line, so its code then counts; if it printed one, that was tried above. In
    # a notebook the arrow may be on another line.
    asserts = code.startswith("assert ")
    if not (code.startswith(_TEXT_IN_CODE) or _COMMENT in code or asserts):
        return False
    for failure in failures:
        first, last = failure.start, failure.line
        if first.file == line.file and first.stream == line.stream and first.number < line.number < last.number:
            if asserts and not shown and not failure.message.strip():
                return False
            # If a notebook's traceback was cut before its last line, the source is the only sign of the failure.
            return bool(failure.frames) and (shown is None or bool(failure.exception))
    return False
