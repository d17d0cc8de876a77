"""The parts of a report that are plain dicts, as the JSON form has them.

Only type checkers and the generator of the schema import this module. `troubleshooter.report.build` and
`troubleshooter.report.diagnosis`, which make the dicts, do not, so that the command starts faster (docs/decisions/0003).
"""

from __future__ import annotations

from typing import Literal, TypedDict

from kb.likeness import Near
from troubleshooter.observe.model import EndState
from troubleshooter.observe.model import Role as FailureRole
from troubleshooter.ranked import VersionState
from troubleshooter.read.stream import Problem

Kind = Literal["failure", "harmless"]
Severity = Literal["crash", "hang", "wrong-results", "degraded", "none"]
Retry = Literal["useless", "after-fix", "may-help"]
RetryReason = Literal[
    "same-crash", "same-result", "same-code", "hardware", "network", "preemption", "race", "passes", "no-failure", "stopped-by-user",
    "unknown",
]  # fmt: skip
Risk = Literal["safe", "changes-results", "retrain", "may-harm"]
CodeLanguage = Literal["python", "yaml", "json", "ini", "text"]
EntryRole = Literal["root", "cascade"]
Shows = Literal["symptom", "cause", "fix", "versions"]
Signal = Literal["SIGINT", "SIGTERM", "SIGHUP"]


class InputProblem(TypedDict):
    """What is wrong with a file. ``detail``: for a damaged one, the message of its decoder."""

    file: str
    problem: Problem
    detail: str


class Input(TypedDict):
    """What was read. ``complete`` is false if only parts of a large log were read."""

    files: list[str]
    lines: int
    bytes: int
    complete: bool
    piped: bool
    problems: list[InputProblem]


class FrameShown(TypedDict):
    """A frame of a traceback. ``line`` is 0 if the log does not show it."""

    file: str
    line: int
    function: str


class FrameSeen(FrameShown):
    """A frame, and the line of the log (``log_line``) that shows it; null if that is not known."""

    log_line: int | None


class Place(FrameShown):
    """A frame on the way to a failure. ``package`` is "" for the user's own code."""

    package: str


class ValueShown(TypedDict):
    """A variable, or an attribute or item of one, and its value; a tensor is given by shape, dtype and device."""

    name: str
    value: str


class FrameValues(FrameShown):
    """A frame with the values that its variables had, taken from crash facts."""

    values: list[ValueShown]


class Unexplained(TypedDict):
    """The failure that no entry explains. ``way``: the frames to it, beginning with the one that raised. ``exception``: ``Traceback``
    where the log ends inside of one, before it names its exception."""

    exception: str
    message: str
    line: int
    file: str
    way: list[Place]
    read: LinesRead
    nearest: list[Near]


Basis = Literal["guard", "message", "rule"]
"""What a suggestion is derived from: the condition in the source, the message's own words, or a rule about the operation."""


class ExplainedArgument(TypedDict):
    """A setting of the user that the condition depends on. ``value``: its value in the log; null if the log does not show it."""

    name: str
    value: str | None
    why: str


class Suggestion(TypedDict):
    """A change that would make the condition false. It is derived from the source and not tested. ``code``: an argument as it
    is written in a call."""

    do: str
    code: str | None
    basis: Basis


class Releases(TypedDict):
    """The first and the last release that contain the message; null if that is not known."""

    first: str | None
    last: str | None


class OwnLine(TypedDict):
    """The last line of the user's own code that led to the failure, with its code if the log shows it."""

    file: str
    line: int
    function: str
    code: str


class Explained(TypedDict):
    """An explanation of a failure, taken from the code that raised it. It is not a diagnosis, because the cause is not known.

    ``line``: the line of the log. ``file``, ``function``, ``source_line``: the place that raised; ``package`` is "" for the
    user's own code. ``condition``: what was true there, in words; "" if only the place is known. ``places``: how many places of
    the source print this message; if more than 1, the one shown is one of them. ``basis``: where the explanation comes from: the
    source file, the index of messages, or a rule about the operation.
    """

    exception: str
    message: str
    line: int
    package: str
    file: str
    function: str
    source_line: int
    condition: str
    arguments: list[ExplainedArgument]
    suggestions: list[Suggestion]
    own: OwnLine | None
    releases: Releases
    places: int
    basis: Literal["source", "index", "rule"]


class RetryDecision(TypedDict):
    """Whether to run the same command again as it is, and why.

    ``decision``: null if nothing failed, or if nothing tells whether the failure comes again. ``reason``: same-crash, same-result
    (of an entry: a crash; a hang or wrong results), same-code (an exception that no entry knows), hardware, network, preemption,
    race, passes (may help); no-failure, stopped-by-user, unknown (no decision). ``entry``: the entry that decides.
    """

    decision: Retry | None
    reason: RetryReason
    entry: str | None


class DatedRelease(TypedDict):
    """The releases of a package that could have printed the log's messages.

    ``first``, ``last``: null if every older, or newer, release could have printed them, too. ``line``, ``text``: a line that
    narrowed the range. ``printed``: the version that the log shows; ``contradicted``: true if that version cannot have printed
    the messages, as when two environments are mixed up.
    """

    package: str
    first: str | None
    last: str | None
    line: int
    text: str
    printed: str | None
    contradicted: bool


class LinesRead(TypedDict):
    """How many lines were read, and how many failures of each role they show."""

    lines: int
    failures: dict[FailureRole, int]


class Stopped(TypedDict):
    """A run that somebody or something stopped from outside.

    ``silent_s``: seconds between the last output and the signal; null if the run was not watched.
    ``at``: the frames that were running, the innermost first; empty if the log does not show them.
    """

    by: Signal
    silent_s: float | None
    line: int | None
    at: list[Place]


class EndingShown(TypedDict):
    """How the log ends (`observe.model.EndState`), and the line that shows it; null if there is none."""

    state: EndState
    line: int | None
    file: str | None
    text: str | None


class RankFailure(TypedDict):
    """The first failure of one rank."""

    rank: int
    line: int
    role: FailureRole
    exception: str
    file: str


class FirstFailure(TypedDict):
    """The rank that failed first, and those that failed afterwards. ``exception`` is the name of the signal that ended a rank without an
    error of its own."""

    rank: int | None
    line: int
    file: str
    exception: str
    followed: list[int]
    order: list[RankFailure]


class Facts(TypedDict):
    """Facts about the run's environment that the log shows. ``versions``: by package."""

    versions: dict[str, str]
    gpus: list[str]
    capabilities: list[str]
    platforms: list[str]
    newer_than_checked: dict[str, str]


class ExitSeen(TypedDict):
    """A process that ended. A negative status is the number of the signal that ended it."""

    status: int
    rank: int | None
    line: int


class MetricSummary(TypedDict):
    """One metric over the log. ``first`` and ``last`` are text ("nan", "inf") if the number is not finite."""

    points: int
    first: float | str
    last: float | str
    min: float | None
    max: float | None
    nonfinite_line: int | None


class Sample(TypedDict, total=False):
    """At most 200 points of a metric, by training step or by number of the record. Null means NaN or infinity."""

    values: list[float | None]
    lines: list[int]
    steps: list[float]
    records: list[int]


class Metric(MetricSummary, Sample):
    """The summary of a metric and, if people look at it, points to draw."""


class Ignored(TypedDict):
    """An answer that the user's settings suppress."""

    id: str
    reason: str


class Ranges(TypedDict):
    affected: dict[str, str]
    state: VersionState


VersionsFrom = TypedDict("VersionsFrom", {"from": Literal["environment"]}, total=False)


class AffectedVersions(Ranges, VersionsFrom):
    """Ranges by package, and whether the run's versions lie inside. ``from``: only if the versions were read in the training
    environment."""


class Advice(TypedDict):
    """Advice that the log prints and that is wrong for this failure."""

    printed: str
    because: str


class FixLeftOut(TypedDict):
    """A fix that is not shown, because the log shows that its releases are installed already. ``installed``: these releases,
    by package."""

    do: str
    installed: dict[str, str]


class Lookalike(TypedDict):
    """Another entry that this one could be confused with, and how to tell them apart."""

    entry: str
    because: str


ProbeOptions = TypedDict("ProbeOptions", {"with": "dict[str, str | int | float | bool]"}, total=False)


class ProbeCall(ProbeOptions):
    """The probe that can reproduce the failure, with its arguments."""

    name: str


class SourceShown(TypedDict, total=False):
    """Where a claim of the entry comes from: a page, an installed file that was read, or a run."""

    url: str | None
    package: str | None
    file: str | None
    versions: str | None
    run: str | None
    shows: Shows | list[Shows]
    note: str | None
