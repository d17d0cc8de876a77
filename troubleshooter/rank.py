"""Candidates → diagnoses in order: root cause before cascade, specific before fallback, with an honest confidence."""

from __future__ import annotations

from typing import Literal

from troubleshooter.lean import dataclass, field
from troubleshooter.match.engine import Candidate
from troubleshooter.match.facts import version_state
from troubleshooter.match.outcome import Evidence, Trial
from troubleshooter.observe.model import Failure
from troubleshooter.observe.observations import Observations
from troubleshooter.observe.progress import run_continued_after
from troubleshooter.read.line import Line

CERTAIN, LIKELY = 0.9, 0.7
"""The words' bounds; their precision is measured by `benchmarks/figures.py`."""
GENERAL = 0.75
"""At most for a general answer. Where nothing more specific held it was right as often as what is likely: 178 of 203 fresh
reports, 313 of 363 (series ten and eleven of `benchmarks/FRESH.md`)."""


Confidence = Literal["certain", "likely", "possible"]
VersionState = Literal["inside", "outside", "unknown"]


@dataclass(slots=True)
class Ranked:
    """A candidate with its confidence (0 to 1) and what weighed on it."""

    candidate: Candidate
    confidence: float
    versions: VersionState = "unknown"
    """The log's versions against the entry's affected range."""
    version_evidence: list[Evidence] = field(default_factory=list)
    versions_installed: bool = False
    """Whether these versions are those of an environment that the user named, and not the log's."""
    notes: list[str] = field(default_factory=list)

    @property
    def word(self) -> Confidence:
        return "certain" if self.confidence >= CERTAIN else "likely" if self.confidence >= LIKELY else "possible"


def rank(candidates: list[Candidate], observations: Observations) -> list[Ranked]:
    """The diagnoses, best first; fallbacks and parents of variants that something more specific replaces are gone."""
    ranked = [_weigh(c, observations) for c in candidates if not _overcome(c, observations)]
    ranked = _without_causeless(_without_asides(_without_replaced(ranked), observations), observations)
    _share_doubt(ranked)
    ranked.sort(key=lambda r: _order(r, observations))
    return ranked


def _overcome(candidate: Candidate, observations: Observations) -> bool:
    """A crash or hang after which the run went on is none."""
    anchor = candidate.trial.anchor
    if anchor is None or candidate.body["severity"] not in ("crash", "hang"):
        return False
    if not candidate.body.get("cause_known", True):  # about the end of the log itself
        return False
    if anchor.failure is not None:
        return anchor.failure.role == "handled"
    end = observations.ending
    if candidate.trial.unseen and end.state == "ended" and end.line is not None and _is_below(end.line, anchor.line):
        return True  # a line that names no exception, and the run came to its end
    if not run_continued_after(observations.progress, anchor.line):
        return False
    return all(run_continued_after(observations.progress, line) for line in observations.saying(anchor.line.text))


def _is_below(line: Line, other: Line) -> bool:
    return line.file == other.file and line.number > other.number


def _weigh(candidate: Candidate, observations: Observations) -> Ranked:
    trial = candidate.trial
    unseen = trial.unseen
    support = sum(o.state == "held" for o in trial.support)
    against = sum(o.state == "contradicted" for o in trial.support)
    confidence = 0.93 if trial.decisive else 0.78
    if candidate.body.get("fallback_for") is not None:
        confidence = min(confidence, GENERAL)
    confidence += min(0.06, 0.03 * support) - min(0.06, 0.03 * against) - min(0.2, 0.06 * unseen)
    if unseen:
        # What was asked and not shown leaves room for another cause; words that have several were right half the time.
        confidence = min(confidence, (CERTAIN if trial.decisive else LIKELY) - 0.05)
    out = Ranked(candidate, confidence)
    for package, range_ in candidate.body.get("versions", {}).items():
        state, shown = version_state(package, range_, observations)
        out.version_evidence += shown
        if state == "held" and out.versions == "unknown":
            out.versions = "inside"
            out.confidence += 0.04
        elif state == "contradicted":
            out.versions = "outside"
            out.confidence *= 0.6
    lines = [one.line for one in out.version_evidence]
    out.versions_installed = bool(lines) and any(
        fact.basis == "environment" and any(fact.line is line for line in lines) for fact in observations.facts
    )
    out.confidence = max(0.05, min(0.99, out.confidence))
    return out


def _without_replaced(ranked: list[Ranked]) -> list[Ranked]:
    by_id = {r.candidate.id: r for r in ranked}
    gone: set[str] = set()
    for item in ranked:
        body = item.candidate.body
        parent = body.get("variant_of")
        if parent in by_id:
            gone.add(parent)
        replaced = body.get("fallback_for")
        if replaced is not None:
            specific = [by_id[i] for i in replaced if i in by_id]
            if any(s.versions != "outside" for s in specific) or (
                not replaced and any(_same_place(item, o) for o in ranked if o is not item and not _is_fallback(o))
            ):
                gone.add(item.candidate.id)
    return [r for r in ranked if r.candidate.id not in gone]


def _without_asides(ranked: list[Ranked], observations: Observations) -> list[Ranked]:
    """After-effects and harmless lines are no answer while the failure that matters stands in the log, unexplained."""
    if any(r.candidate.body["role"] == "root" and r.candidate.body["kind"] == "failure" for r in ranked):
        return ranked
    initiating = [f for f in observations.failures if f.role == "initiating"]
    open_failures = [f for f in initiating if f.exception]
    if not open_failures:
        # A traceback that was cut before its last line may have any after-effect, but was not harmless.
        return [r for r in ranked if r.candidate.body["kind"] != "harmless"] if initiating else ranked
    return [r for r in ranked if r.candidate.body["role"] != "cascade" and _about(r.candidate.trial, open_failures)]


def _without_causeless(ranked: list[Ranked], observations: Observations) -> list[Ranked]:
    """An answer that knows no cause is one only where no other failure is seen, explained or not."""
    seen = any(f.role in ("initiating", "cascade") for f in observations.failures)
    known = any(r.candidate.body["kind"] == "failure" and _knows_cause(r) for r in ranked)
    return [r for r in ranked if _knows_cause(r)] if seen or known else ranked


def _knows_cause(item: Ranked) -> bool:
    return bool(item.candidate.body.get("cause_known", True))


def _about(trial: Trial, failures: list[Failure]) -> bool:
    """Whether a symptom is about one of the failures: about it, or about the line that says where it was raised
    ("Exception in thread …")."""
    if trial.anchor is None:
        return False
    found, line = trial.anchor.failure, trial.anchor.line
    if found is None and line.text.startswith("Exception "):
        return any(f.start.file == line.file and f.start.number == line.number + 1 for f in failures)
    return any(found is f for f in failures)


def _is_fallback(item: Ranked) -> bool:
    return item.candidate.body.get("fallback_for") is not None


def _same_place(a: Ranked, b: Ranked) -> bool:
    return _place(a.candidate.trial) == _place(b.candidate.trial)


def _place(trial: Trial) -> tuple[int, int] | None:
    return (trial.anchor.line.file, trial.anchor.line.number) if trial.anchor else None


def _share_doubt(ranked: list[Ranked]) -> None:
    """Two specific answers to the same line: the one that asked for less of the log is doubted, or both of equals."""
    before = {id(item): item.confidence for item in ranked}
    for item in ranked:
        rivals = [
            r
            for r in ranked
            if r is not item
            and _same_place(item, r)
            and not _is_fallback(r)
            and r.candidate.body["role"] == item.candidate.body["role"]
            and r.candidate.body["kind"] == item.candidate.body["kind"]
            and before[id(r)] >= before[id(item)] - 0.13
            and _specific(r.candidate.trial) >= _specific(item.candidate.trial)
        ]
        if rivals:
            item.confidence -= 0.1
            item.notes.append("shares its line with " + ", ".join(r.candidate.id for r in rivals))


def _specific(trial: Trial) -> tuple[int, int]:
    """How much of the log an answer asked for: required conditions that held, then the length of the words."""
    return trial.asked, sum(o.length for o in trial.require) // 12


def _order(item: Ranked, observations: Observations) -> tuple[float, ...]:
    """What comes first: failures, root causes, what ended the run (but a line that tells the cause for certain comes before an
    exception that has several), what is surer, what came earlier."""
    body, trial = item.candidate.body, item.candidate.trial
    failure = trial.anchor.failure if trial.anchor else None
    weight = 2.0
    if failure is not None:
        weight = {"initiating": 0.0, "handled": 2.5, "teardown": 3.0, "cascade": 1.0}.get(failure.role, 1.0)
        if not weight and (item.word == "possible" or _is_fallback(item)):
            weight = 0.2
    elif body["severity"] in ("crash", "hang"):
        weight = 0.1 if item.word == "certain" else 0.5
    elif body["severity"] == "wrong-results":
        weight = 1.0
    length = sum(o.length for o in trial.require)
    line = trial.anchor.line.number if trial.anchor else 0
    # Among ranks the one that failed first has the cause: the others lost it.
    first = line if sum(bool(f.ranks) for f in observations.failures) > 1 else 0
    return (
        body["kind"] == "harmless",
        body["role"] == "cascade",
        _is_fallback(item) and weight > 0.4,
        weight,
        _is_fallback(item),
        -round(item.confidence, 1),
        first,
        -round(item.confidence, 2),
        -_conditions(trial),
        -length,
        line,
    )


def _conditions(trial: Trial) -> int:
    """How much an answer asked for: an answer that needed more of the log to hold is the more specific one."""
    return sum(o.state == "held" for o in trial.require) + sum(o.state == "held" for o in trial.support)
