"""The report: what was read, what is diagnosed, what stays unexplained. Every renderer shows this model.

The JSON form is a contract (``schema_version``, `troubleshooter/report/report.schema.json`). The parts that are plain dicts
are described in `troubleshooter.report.parts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from troubleshooter.observe.model import Role as FailureRole
    from troubleshooter.ranked import Confidence
    from troubleshooter.report.parts import (
        Advice,
        AffectedVersions,
        CodeLanguage,
        DatedRelease,
        EndingShown,
        EntryRole,
        ExitSeen,
        Explained,
        Facts,
        FirstFailure,
        FixLeftOut,
        FrameSeen,
        FrameValues,
        Ignored,
        Input,
        Kind,
        Lookalike,
        Metric,
        ProbeCall,
        Retry,
        RetryDecision,
        Risk,
        Severity,
        SourceShown,
        Stopped,
        Unexplained,
    )

SCHEMA_VERSION = 1


class EvidenceLine(NamedTuple):
    """A raw line (1-based) of an input, its text without prefix, and what it shows.

    ``where`` is the cell of a notebook (``cell [3]``), or "installed" if ``--env`` read it in the training environment; then
    ``line`` is 0.
    """

    line: int
    text: str
    why: str
    file: str
    where: str


class FixStep(NamedTuple):
    """One thing to do. ``risk``: whether it changes results or may do harm. ``code`` and ``shell`` can be pasted as they are."""

    do: str
    risk: Risk
    why: str | None = None
    code: str | None = None
    language: CodeLanguage | None = None
    shell: str | None = None


class Diagnosis(NamedTuple):
    """One answer. ``confidence`` is a word, ``score`` the number behind it (0 to 1)."""

    id: str
    kind: Kind
    area: str
    severity: Severity
    role: EntryRole
    retry: Retry
    confidence: Confidence
    score: float
    title: str
    cause: str
    fixes: list[FixStep]
    evidence: list[EvidenceLine]
    symptom: str
    versions: AffectedVersions
    advice: list[Advice]
    lookalikes: list[Lookalike]
    probe: ProbeCall | None
    sources: list[SourceShown]
    notes: list[str]
    cause_known: bool
    """False if the log shows only the effect and nothing that could tell the cause."""
    fixes_left_out: list[FixLeftOut]
    """Fixes left out because the log shows that their releases are already installed."""
    summary: str = ""
    """What the title leaves out, in one or two sentences; "" if the title says everything."""


class FailureSeen(NamedTuple):
    """An exception as it was read, whether or not an entry knows it."""

    exception: str
    message: str
    frames: list[FrameSeen]
    rank: int | None
    ranks: list[int]
    role: FailureRole
    line: int
    file: str
    repeated: int


def plain_data(value: Any) -> Any:
    """A part of the report as new dicts and lists."""
    if isinstance(value, (EvidenceLine, FixStep, Diagnosis, FailureSeen)):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: plain_data(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(each) for each in value]
    return value


def unseen_end() -> EndingShown:
    """The ending of a log that does not show how it ends."""
    return {"state": "unknown", "line": None, "file": None, "text": None}


class Report:
    """What `diagnose` returns: everything that a renderer needs.

    ``print(report)`` writes it as text, `show` as the command line does, and a notebook shows it as HTML.
    """

    # The order is that of the JSON report.
    __slots__ = (  # noqa: RUF023
        "input", "failures", "diagnoses", "unexplained", "first_failure", "facts", "exits", "metrics", "ignored", "stopped",
        "ending", "explained", "crash", "dated", "retry", "lang",
    )  # fmt: skip

    def __init__(
        self,
        *,
        input: Input,
        failures: list[FailureSeen],
        diagnoses: list[Diagnosis],
        unexplained: Unexplained | None,
        first_failure: FirstFailure | None,
        facts: Facts,
        exits: list[ExitSeen],
        metrics: dict[str, Metric],
        ignored: list[Ignored],
        stopped: Stopped | None,
        ending: EndingShown,
        explained: list[Explained],
        crash: list[FrameValues],
        dated: list[DatedRelease],
        retry: RetryDecision,
        lang: str,
    ) -> None:
        self.input = input
        self.failures = failures
        self.diagnoses = diagnoses
        self.unexplained = unexplained
        self.first_failure = first_failure
        self.facts = facts
        self.exits = exits
        self.metrics = metrics
        self.ignored = ignored
        self.stopped = stopped
        self.ending = ending
        self.explained = explained
        """Explanations, from the code that raised it, of a failure that no entry diagnoses for sure."""
        self.crash = crash
        """The values of variables where the failure was raised; empty without crash facts."""
        self.retry = retry
        """Whether to run the same command again."""
        self.dated = dated
        """The releases that the log's messages fit. Empty unless the best answer is only possible, or there is none."""
        self.lang = lang

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and (self.to_dict(), self.lang) == (other.to_dict(), other.lang)

    __hash__ = None  # type: ignore[assignment]

    @property
    def exit_code(self) -> int:
        """0 nothing wrong (or only harmless), 1 a failure diagnosed, 3 a failure seen but not explained (no entry, or one that
        knows no cause) or a stopped run."""
        failures = [d for d in self.diagnoses if d.kind == "failure"]
        if any(d.cause_known for d in failures):
            return 1
        return 3 if failures or self.unexplained is not None or self.stopped is not None else 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract."""
        fields = {name: plain_data(getattr(self, name)) for name in self.__slots__ if name != "lang"}
        return {"schema_version": SCHEMA_VERSION, **fields}

    def show(self) -> None:
        """Print the report on standard output as the command line does: in colours on a terminal."""
        from troubleshooter.report.terminal import show

        show(self)

    def __str__(self) -> str:
        """The report as text without colours, as wide as the terminal (80 characters if there is none)."""
        from troubleshooter.report.terminal import text

        return text(self)

    def __repr__(self) -> str:
        answers = [f"{d.id} ({'harmless' if d.kind == 'harmless' else d.confidence})" for d in self.diagnoses]
        if self.unexplained is not None:
            word = "explained" if self.explained else "unexplained"
            answers.append(f"{word} {self.unexplained['exception']}")
        if self.stopped is not None:
            answers.append("stopped")
        lines = self.input["lines"]
        return f"<Report: {', '.join(answers) or 'nothing wrong'}; {lines} line{'' if lines == 1 else 's'} read>"

    def _repr_html_(self) -> str:
        """What a notebook shows: HTML that stands alone, with every text of the log escaped."""
        from troubleshooter.report.notebook import notebook

        return notebook(self)
