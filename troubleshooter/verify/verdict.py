"""The answer of ``troubleshoot verify``: ``confirmed``, ``kind-confirmed``, ``not-here`` or ``cannot-tell``.

``kind-confirmed`` answers a question about a log: the probe failed in the same way, but with values of its own, or in another
environment than the log's. Such a failure exists on this machine; whether the log's does, the run cannot say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["EXIT", "SCHEMA_VERSION", "Basis", "FixResult", "Question", "Said", "Verdict"]

SCHEMA_VERSION = 1
Said = Literal["confirmed", "kind-confirmed", "not-here", "cannot-tell"]
Question = Literal["entry", "log", "kind"]
"""What was asked: about an entry, about a log with the log's own values, or only about the kind of failure in a log."""
Basis = Literal["run", "versions"]

EXIT: Mapping[Said, int] = {"not-here": 0, "confirmed": 1, "kind-confirmed": 3, "cannot-tell": 3}


@dataclass(frozen=True)
class FixResult:
    """What is known about one fix after the run."""

    do: str
    removes_symptom: bool | None
    cost: Mapping[str, Any] = field(default_factory=dict)
    text: str | None = None
    in_entry: bool = True

    def as_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"do": self.do, "removes_symptom": self.removes_symptom, "cost": dict(self.cost)}
        if self.text:
            shown["text"] = self.text
        if not self.in_entry:
            shown["in_entry"] = False
        return shown


@dataclass(frozen=True)
class Verdict:
    """The answer of ``troubleshoot verify`` for one entry."""

    entry: str
    verdict: Said
    basis: Basis
    reason: str
    environment: Mapping[str, Any]
    question: Question = "entry"
    from_log: Mapping[str, object] = field(default_factory=dict)
    """The probe's ``with`` values that came from the log."""
    same_environment: bool | None = None
    symptom: Mapping[str, Any] = field(default_factory=dict)
    fixes: tuple[FixResult, ...] = ()
    seconds: float = 0.0
    peak_mb: int = 0
    notes: tuple[str, ...] = ()
    mechanism: tuple[Mapping[str, Any], ...] = ()
    tail: str = ""
    """The last lines that the probe printed, if the probe itself failed."""

    @property
    def exit_code(self) -> int:
        return EXIT[self.verdict]

    def as_json(self) -> dict[str, Any]:
        """The object that ``--format json`` prints."""
        shown: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "entry": self.entry,
            "verdict": self.verdict,
            "basis": self.basis,
            "reason": self.reason,
            "same_environment": self.same_environment,
            "symptom": dict(self.symptom),
            "fixes": [fix.as_json() for fix in self.fixes],
            "environment": dict(self.environment),
            "seconds": self.seconds,
            "peak_mb": self.peak_mb,
            "question": self.question,
        }
        for name, value in (
            ("from_log", dict(self.from_log)),
            ("notes", list(self.notes)),
            ("mechanism", list(self.mechanism)),
            ("output", self.tail),
        ):
            if value:
                shown[name] = value
        return shown
