"""The report: what was read, what is diagnosed, what stays unexplained. Every renderer shows this model.

The JSON form is a contract (``schema_version``, `troubleshooter/report/schema.py`).
"""

from __future__ import annotations

from typing import Any

from troubleshooter.lean import asdict, dataclass, field

SCHEMA_VERSION = 1


@dataclass(slots=True)
class EvidenceLine:
    """A raw line (1-based) of an input, its text without prefix, and what it shows."""

    line: int
    text: str
    why: str
    file: str = ""


@dataclass(slots=True)
class FixStep:
    do: str
    risk: str
    why: str | None = None
    code: str | None = None
    language: str | None = None
    shell: str | None = None


@dataclass(slots=True)
class Diagnosis:
    """One answer. ``confidence`` is a word (certain, likely, possible), ``score`` the number behind it (0 to 1)."""

    id: str
    kind: str
    area: str
    severity: str
    role: str
    retry: str
    confidence: str
    score: float
    title: str
    cause: str
    fixes: list[FixStep]
    evidence: list[EvidenceLine]
    symptom: str
    versions: dict[str, Any]
    advice: list[dict[str, str]] = field(default_factory=list)
    lookalikes: list[dict[str, str]] = field(default_factory=list)
    probe: dict[str, Any] | None = None
    sources: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class FailureSeen:
    """An exception as it was read, whether or not an entry knows it."""

    exception: str
    message: str
    frames: list[dict[str, Any]]
    rank: int | None
    ranks: list[int]
    role: str
    line: int
    file: str
    repeated: int


@dataclass(slots=True)
class Report:
    """Everything that a renderer needs, and the object that `diagnose` returns."""

    input: dict[str, Any]
    failures: list[FailureSeen]
    diagnoses: list[Diagnosis]
    unexplained: dict[str, Any] | None
    first_failure: dict[str, Any] | None
    facts: dict[str, Any]
    exits: list[dict[str, Any]]
    metrics: dict[str, Any]
    ignored: list[dict[str, str]] = field(default_factory=list)
    lang: str = "en"

    @property
    def exit_code(self) -> int:
        """0 nothing wrong (or only harmless), 1 a failure diagnosed, 3 a failure seen but not explained."""
        if any(d.kind == "failure" for d in self.diagnoses):
            return 1
        return 3 if self.unexplained is not None else 0

    def to_dict(self) -> dict[str, Any]:
        """The JSON contract."""
        out = asdict(self)
        out.pop("lang")
        return {"schema_version": SCHEMA_VERSION, **out}
