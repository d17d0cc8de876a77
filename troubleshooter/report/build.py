"""Build the report from the observations and the ranked candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from kb import versions
from kb.compiled import Knowledge
from troubleshooter.observe.model import DatedPackage, Failure, Point
from troubleshooter.observe.observations import Observations
from troubleshooter.observe.tracebacks.frames import HEADER
from troubleshooter.ranked import Ranked
from troubleshooter.read.text import fold, plain
from troubleshooter.report import TOP
from troubleshooter.report.curves import charted, first_bad, sample
from troubleshooter.report.diagnosis import diagnosis
from troubleshooter.report.evidence import file_name
from troubleshooter.report.fill import safe
from troubleshooter.report.first_failure import first_failure
from troubleshooter.report.model import FailureSeen, Report, unseen_end
from troubleshooter.report.retry import decide
from troubleshooter.report.stopped import INTERRUPT, stopped
from troubleshooter.report.way import way
from troubleshooter.report.words import say

if TYPE_CHECKING:
    from troubleshooter.read.sources import Stop
    from troubleshooter.report.parts import (
        DatedRelease,
        EndingShown,
        Facts,
        Ignored,
        Metric,
        MetricSummary,
        Unexplained,
    )

MAX_MESSAGE_CHARACTERS = 4000
"""A longer message of an exception is cut."""
CUT_OFF = "Traceback"
"""Stands for the exception of a traceback that ends before it names one."""
MAX_FAILURES, MAX_EXITS = 200, 50
"""At most this many failures and ended processes are listed."""


def build(
    observations: Observations, ranked: list[Ranked], knowledge: Knowledge, names: list[str], *, lang: str = "en",
    top: int = TOP, ignore: Mapping[str, str] | None = None, brief: bool = False,
    stop: Stop | None = None, piped: bool = False, folders: Sequence[str] = (),
) -> Report:  # fmt: skip
    """Make the report. ``names``: the inputs' names by file number; ``top``: at most this many answers; ``ignore``: ids of
    entries to leave out, with the reason; ``brief``: leave out what a scan does not keep (causes, fixes, metrics, explanations
    and entries with similar messages); ``stop``: the signal that ended the reading; ``piped``: whether the log came through a
    pipe; ``folders``: where the packages of the training environment are installed."""
    ignore = ignore or {}
    ignored: list[Ignored] = [
        {"id": r.candidate.id, "reason": ignore[r.candidate.id]} for r in ranked if r.candidate.id in ignore
    ]
    kept = [r for r in ranked if r.candidate.id not in ignore]
    diagnoses = [diagnosis(r, observations, knowledge, names, lang=lang, brief=brief) for r in kept[:top]]
    facts: Facts = {"versions": {}, "gpus": [], "capabilities": [], "platforms": [], "newer_than_checked": {}}
    for fact in observations.facts:
        if fact.kind == "version":
            facts["versions"].setdefault(fact.name, fact.value)
        elif fact.kind == "gpu" and fact.name not in facts["gpus"]:
            facts["gpus"].append(safe(fact.name))
        elif fact.kind == "capability" and fact.value not in facts["capabilities"]:
            facts["capabilities"].append(fact.value)
        elif fact.kind == "platform":
            facts["platforms"].append(fact.name)
    facts["newer_than_checked"] = _newer(facts["versions"], knowledge.checked)
    report = Report(
        input={
            "files": names,
            "lines": observations.lines,
            "bytes": observations.bytes,
            "complete": observations.complete,
            "piped": piped,
            "problems": [
                {"file": file_name(names, file), "problem": problem, "detail": detail}
                for file, (problem, detail) in observations.problems.items()
            ],
        },
        failures=[_seen(f, names) for f in observations.failures[:MAX_FAILURES]],
        diagnoses=diagnoses,
        unexplained=None,
        first_failure=first_failure(observations, names),
        facts=facts,
        exits=[{"status": e.status, "rank": e.rank, "line": e.line.number} for e in observations.exits[:MAX_EXITS]],
        metrics={} if brief else _metrics(observations.metrics),
        ignored=ignored,
        stopped=stopped(observations, stop),
        ending=_ending(observations, names),
        explained=[],
        crash=[],
        dated=[_dated(one) for one in observations.dated.values()],
        retry=decide((), None, None),
        lang=lang,
    )
    culprit = _culprit(observations, report.stopped is not None)
    if culprit is not None and not brief and any(frame.values for frame in culprit.frames):
        from troubleshooter.report.crash import values_at_failure

        report.crash = values_at_failure(culprit)
    if not diagnoses and not ignored and culprit is not None:
        report.unexplained = _unexplained(culprit, observations, knowledge, names, lang, brief)
    open_question = report.unexplained is not None or (bool(diagnoses) and diagnoses[0].confidence == "possible")
    if open_question and culprit is not None and not brief:
        from troubleshooter.explaining.explain import explain

        found = explain(culprit, folders, lang, observations.commands, observations.failures)
        report.explained = [found] if found is not None else []
    report.retry = decide(diagnoses, report.unexplained, report.stopped)
    return report


def _seen(failure: Failure, names: list[str]) -> FailureSeen:
    return FailureSeen(
        exception=failure.exception,
        message=failure.message[:MAX_MESSAGE_CHARACTERS],
        frames=[
            {"file": f.file, "line": f.line, "function": f.function, "log_line": f.seen.number if f.seen else None}
            for f in failure.frames
        ],
        rank=failure.line.rank,
        ranks=sorted(failure.ranks),
        role=failure.role,
        line=failure.line.number,
        file=file_name(names, failure.line.file),
        repeated=failure.repeated,
    )


def _ending(observations: Observations, names: list[str]) -> EndingShown:
    """How the log ends, with the line that shows it."""
    state, line, _ = observations.ending
    if line is None:
        return {**unseen_end(), "state": state}
    text = safe(plain(line.text), 400)
    return {"state": state, "line": line.number, "file": file_name(names, line.file), "text": text}


def _culprit(observations: Observations, stopped: bool) -> Failure | None:
    """The failure that a reader would look at first: the last initiating one, else the last cascade.

    If the run was stopped, cascades are effects of the stop and do not count.
    """
    for role in ("initiating",) if stopped else ("initiating", "cascade"):
        found = [f for f in observations.failures if f.role == role and f.exception and f.type != INTERRUPT]
        if found:
            return found[-1]
    # A log that ends inside a traceback: a killed terminal, a paste without its last line.
    for last in observations.failures[-1:]:
        is_open = last.role == "initiating" and not last.exception and HEADER in last.start.text
        if is_open and not stopped and last.line.number >= observations.lines:
            return last
    return None


def _unexplained(
    culprit: Failure, observations: Observations, knowledge: Knowledge, names: list[str], lang: str, brief: bool
) -> Unexplained:
    from kb.likeness import nearest

    roles = Counter(f.role for f in observations.failures)
    return {
        "exception": culprit.exception or CUT_OFF,
        "message": safe(plain(culprit.message), 1000) if culprit.exception else say("cut-off", lang),
        "line": culprit.line.number,
        "file": file_name(names, culprit.line.file),
        "way": way(culprit.frames),
        "read": {"lines": observations.lines, "failures": dict(roles)},
        "nearest": nearest(knowledge, fold(culprit.text)[:400], lang) if not brief else [],
    }


def _dated(one: DatedPackage) -> DatedRelease:
    first, last = one.releases[0], one.releases[-1]
    return {
        "package": one.package, "first": first if one.after else None, "last": last if one.before else None,
        "line": one.line.number, "text": safe(one.line.text), "printed": one.printed, "contradicted": one.contradicted,
    }  # fmt: skip


def _metrics(series: dict[str, list[Point]]) -> dict[str, Metric]:
    """A summary of every metric. Metrics that people look at also get points to draw."""
    drawn = set(charted(list(series)))
    found: dict[str, Metric] = {}
    for name, points in sorted(series.items()):
        points_to_draw = sample(points) if name in drawn else {}
        found[name] = cast("Metric", {**_series(points), **points_to_draw})
    return found


def _series(points: list[Point]) -> MetricSummary:
    values = [p.value for p in points]
    bad = first_bad(values)
    good = values if bad is None else [v for v in values if v - v == 0]
    return {
        "points": len(points),
        "first": _plain(values[0]),
        "last": _plain(values[-1]),
        "min": min(good) if good else None,
        "max": max(good) if good else None,
        "nonfinite_line": points[bad].line.number if bad is not None else None,
    }


def _plain(value: float) -> float | str:
    """A number for JSON, which has no NaN or infinity: those become text."""
    return value if value - value == 0 else str(value)


def _newer(shown: dict[str, str], checked: dict[str, str]) -> dict[str, str]:
    """Packages that are newer in the log than the release that the knowledge was checked against; the value is that release."""
    out = {}
    for package, version in shown.items():
        if package in checked:
            try:
                if versions.release(version) > versions.release(checked[package]):
                    out[package] = checked[package]
            except ValueError:
                continue
    return out
