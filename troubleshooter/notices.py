"""Lines without an exception that only warn: which of them are not what ended a run."""

from __future__ import annotations

from kb import lazy
from troubleshooter.match.engine import Candidate
from troubleshooter.match.outcome import Anchor
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line

_GOES_ON = lazy.compile(
    r"(?i:\bwill? be (?:ignored|overwritten|disabled|skipped|truncated|deleted|converted)\b|\b(?:ignored|deleted|skipped)\.?$|"
    r"\bwe (?:will|shall) (?:default|take|skip|truncate|use|ignore)\b|\bdefaulting to\b|\btaking the mean\b|"
    r"(?:^|[,.;:] {1,2})(?:so )?(?:skipping(?: (?:it|the|this|module))?(?:[.,]|$| \w+ for )|disabling|ignoring|truncating|falling back|setting (?:dtype|args|`)|reset [a-z_]+ to|patching)|"
    r"\b(?:falls? back to|is used instead|so it is disabled|you can ignore this|this is just a warning|will not be enabled|"
    r"will overwrite your|checkpoint instead|if you are using \w{1,40}, you will get|warn_only=true|will (?:be|raise) an error in)\b)"
)
"""Words of a line that says what the program does without what it lacks: those of the notices in the index of messages that
were told as a crash for certain or likely."""


_WARNING = lazy.compile(r"^(?:\S{1,60}\s{1,3}){0,6}?\[?(?:WARN|WARNING)\b|\b[A-Z]\w{0,40}Warning: ")
"""A line that warns. Lines of INFO are left out: many programs print their losses so."""
_NOTICE = lazy.compile(
    r"(?i:\bretry(?:ing)?\b|\bretries\b)|^(?:\S{1,60}\s{1,3}){0,6}?\[?(?:WARN|WARNING|INFO|DEBUG)\b|\b[A-Z]\w{0,40}Warning: "
)
"""A line that warns, or that says that something is tried again. Its program went on."""


def only_warned(candidate: Candidate, observations: Observations) -> str | None:
    """Why an answer that rests on a line without an exception is not what the reader asks for; None where it may be.

    A line that says how the run goes on is no crash. A warning above the exception that nothing caught is not what ended the
    run; for an answer about results or speed it may be true all the same.
    """
    anchor = candidate.trial.anchor
    if anchor is None or anchor.failure is not None:
        return None
    is_crash = candidate.body["severity"] in ("crash", "hang")
    if is_crash and _GOES_ON.search(anchor.line.text) is not None:
        return "its line says how the run goes on"
    is_warning = is_crash or (candidate.body["kind"] == "failure" and _WARNING.search(anchor.line.text) is not None)
    if is_warning and is_notice(anchor, observations):
        return "its line warns, and an exception ended the run later"
    return None


def is_notice(anchor: Anchor, observations: Observations) -> bool:
    """Whether a line without an exception is a warning or a retry, and an exception that nothing caught ended the run later.

    NCCL calls its errors warnings, so its lines are none.
    """
    text = anchor.line.text
    return (
        " NCCL WARN " not in text
        and _NOTICE.search(text) is not None
        and any(
            failure.role == "initiating" and failure.uncaught and is_below(failure.line, anchor.line)
            for failure in observations.failures
        )
    )


def is_below(line: Line, other: Line) -> bool:
    return line.file == other.file and line.number > other.number
