"""Observations and ranked candidates → the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from kb import versions
from kb.compiled import Body, Knowledge, translation
from troubleshooter.installed import already_installed, ruled_out
from troubleshooter.match.context import Context
from troubleshooter.match.regex import search
from troubleshooter.observe.model import DatedPackage, Failure, Point
from troubleshooter.observe.observations import Observations
from troubleshooter.rank import Ranked
from troubleshooter.read.line import Line
from troubleshooter.read.notebook import CELL
from troubleshooter.read.text import fold, plain
from troubleshooter.report import TOP
from troubleshooter.report.curves import charted, first_bad, sample
from troubleshooter.report.fill import fill, safe
from troubleshooter.report.model import Diagnosis, EvidenceLine, FailureSeen, FixStep, Report, unseen_end
from troubleshooter.report.stopped import INTERRUPT, stopped
from troubleshooter.report.telling import telling
from troubleshooter.report.way import way

if TYPE_CHECKING:
    from troubleshooter.read.sources import Stop
    from troubleshooter.report.parts import (
        Advice,
        AffectedVersions,
        DatedRelease,
        EndingShown,
        Facts,
        FirstFailure,
        FixLeftOut,
        Ignored,
        Lookalike,
        Metric,
        MetricSummary,
        RankFailure,
        Unexplained,
    )

EVIDENCE = 8
MESSAGE = 4000
RANKS = 256


def build(
    observations: Observations, ranked: list[Ranked], knowledge: Knowledge, names: list[str], *, lang: str = "en",
    top: int = TOP, ignore: Mapping[str, str] | None = None, brief: bool = False,
    stop: Stop | None = None, piped: bool = False, folders: Sequence[str] = (),
) -> Report:  # fmt: skip
    """The report in a language. ``names``: the inputs' names by file number; ``ignore``: reasons by entry id;
    ``brief``: what a scan keeps of it, without causes, fixes, metrics, and entries like a message that none explains;
    ``stop``: the signal that ended the reading; ``piped``: whether the log came through a pipe; ``folders``: where the
    packages of the training environment are installed."""
    ignore = ignore or {}
    ignored: list[Ignored] = [
        {"id": r.candidate.id, "reason": ignore[r.candidate.id]} for r in ranked if r.candidate.id in ignore
    ]
    kept = [r for r in ranked if r.candidate.id not in ignore]
    diagnoses = [_diagnosis(r, observations, knowledge, names, lang, brief) for r in kept[:top]]
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
                {"file": _name(names, file), "problem": problem, "detail": detail}
                for file, (problem, detail) in observations.problems.items()
            ],
        },
        failures=[_seen(f, names) for f in observations.failures[:200]],
        diagnoses=diagnoses,
        unexplained=None,
        first_failure=_first(observations, names),
        facts=facts,
        exits=[{"status": e.status, "rank": e.rank, "line": e.line.number} for e in observations.exits[:50]],
        metrics={} if brief else _metrics(observations.metrics),
        ignored=ignored,
        stopped=stopped(observations, stop),
        ending=_ending(observations, names),
        explained=[],
        crash=[],
        dated=[_dated(one) for one in observations.dated.values()],
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

        found = explain(culprit, folders, lang)
        report.explained = [found] if found is not None else []
    return report


def _diagnosis(
    item: Ranked, observations: Observations, knowledge: Knowledge, names: list[str], lang: str, brief: bool
) -> Diagnosis:
    trial = item.candidate.trial
    found = knowledge.find(item.candidate.id)
    assert found is not None
    body = found[0]
    text = spoken(body, lang)
    values = {k: fold(v) for k, v in trial.captured.items()}
    evidence: list[EvidenceLine] = []
    for shown in (*item.candidate.evidence, *item.version_evidence):
        line = EvidenceLine(
            shown.line.number, safe(plain(shown.text), 400), shown.why, _name(names, shown.line.file), _where(shown.line)
        )  # fmt: skip
        if not any(e.line == line.line and e.file == line.file and e.text == line.text for e in evidence):
            evidence.append(line)
    if not brief:
        evidence = [line for shown in evidence for line in (shown, *_message_below(shown, item, names))]
    context = Context(observations, knowledge, item.candidate.base, trial.anchor, dict(trial.captured))
    steps, left_out = _fixes(text, values, context)
    return Diagnosis(
        id=body["id"],
        kind=body["kind"],
        area=body["area"],
        severity=body["severity"],
        role=body["role"],
        retry=body["retry"],
        confidence=item.word,
        score=round(item.confidence, 3),
        title=fill(text["title"], values) or body["id"],
        cause="" if brief else (fill(text["cause"], values) or text["cause"]).strip(),
        fixes=[] if brief else steps,
        evidence=evidence[:EVIDENCE],
        symptom=trial.symptom,
        versions=_versions(body, item),
        advice=[] if brief else _advice(body, text, context),
        lookalikes=_lookalikes(body, lang),
        probe=body.get("probe"),
        sources=body["sources"],
        notes=item.notes,
        cause_known=body.get("cause_known", True),
        summary="" if brief else (fill(text["summary"], values) or "").strip(),
        fixes_left_out=[] if brief else left_out,
    )


def _message_below(shown: EvidenceLine, item: Ranked, names: list[str]) -> Iterator[EvidenceLine]:
    """The telling lines of a message of several lines, below evidence that is its first line."""
    anchor = item.candidate.trial.anchor
    failure = anchor.failure if anchor is not None else None
    if failure is None or (failure.line.number, _name(names, failure.line.file)) != (shown.line, shown.file):
        return
    for line in telling(failure, item.candidate):
        yield EvidenceLine(
            line.number, safe(plain(line.text), 400), "the message goes on", _name(names, line.file), _where(line)
        )  # fmt: skip


def _versions(body: Body, item: Ranked) -> AffectedVersions:
    found: AffectedVersions = {"affected": body.get("versions", {}), "state": item.versions}
    if item.versions_installed:
        found["from"] = "environment"
    return found


def spoken(body: Body, lang: str) -> dict[str, Any]:
    """Title, summary, cause, fixes and reasons of an entry in a language (English where there is no translation). The
    summary is "" where there is none."""
    english = {
        "title": body["title"], "summary": body.get("summary", ""), "cause": body["cause"], "fixes": body["fixes"],
        "advice": [a["because"] for a in body["advice"]],
    }  # fmt: skip
    text = translation(body, lang)
    if not text:
        return english
    fixes = [
        {**fix, "do": other["do"], "why": other.get("why", fix.get("why"))}
        for fix, other in zip(body["fixes"], text.get("fixes", []), strict=False)
    ]
    return {
        "title": text["title"], "summary": text.get("summary", ""), "cause": text["cause"], "fixes": fixes,
        "advice": [a["because"] for a in text.get("advice", [])],
    }  # fmt: skip


def _fixes(text: dict[str, Any], values: dict[str, str], context: Context) -> tuple[list[FixStep], list[FixLeftOut]]:
    """The fixes to show, and those that install what the log shows already."""
    steps: list[FixStep] = []
    left_out: list[FixLeftOut] = []
    for fix in text["fixes"]:
        if ruled_out(fix, context):
            continue
        filled = {
            name: fill(fix[name], values, shell=name == "shell")
            for name in ("do", "why", "code", "shell")
            if fix.get(name)
        }
        if None in filled.values():
            continue
        if (installed := already_installed(fix, context)) is not None:
            left_out.append({"do": filled["do"] or "", "installed": {fact.name: fact.value for fact in installed}})
            continue
        steps.append(
            FixStep(
                do=filled["do"] or "",
                risk=fix["risk"],
                why=filled.get("why"),
                code=(filled.get("code") or "").rstrip() or None,
                language=fix["language"] if fix.get("code") else None,
                shell=(filled.get("shell") or "").rstrip() or None,
            )
        )
    return steps, left_out


def _advice(body: Body, text: dict[str, Any], context: Context) -> list[Advice]:
    found: list[Advice] = []
    for item, because in zip(body["advice"], text["advice"], strict=False):
        for line in context.candidate_lines(item["pattern"]):
            if match := search(item["pattern"]["re"], line.folded):
                found.append({"printed": safe(match.said, 200), "because": because})
                break
    return found


def _lookalikes(body: Body, lang: str) -> list[Lookalike]:
    return [
        {"entry": other["entry"], "because": translation(other, lang) or other["because"]}
        for other in body.get("lookalikes", {}).get("confused", [])
    ]


def _seen(failure: Failure, names: list[str]) -> FailureSeen:
    return FailureSeen(
        exception=failure.exception,
        message=failure.message[:MESSAGE],
        frames=[
            {"file": f.file, "line": f.line, "function": f.function, "log_line": f.seen.number if f.seen else None}
            for f in failure.frames
        ],
        rank=failure.line.rank,
        ranks=sorted(failure.ranks),
        role=failure.role,
        line=failure.line.number,
        file=_name(names, failure.line.file),
        repeated=failure.repeated,
    )


def _first(observations: Observations, names: list[str]) -> FirstFailure | None:
    """Which rank failed first, and how many followed; None where the log does not show it."""
    ranked = [f for f in observations.failures if f.ranks and f.role in ("initiating", "cascade")]
    if not ranked:
        return None
    first = min(ranked, key=lambda f: (f.role != "initiating", f.line.number))
    rivals = [f for f in observations.failures if f.role == "initiating" and f.line.file != first.line.file]
    if rivals and (first.role != "initiating" or any(f.ranks for f in rivals)):
        return None  # the lines of several files have no order
    followed = {r for f in ranked for r in f.ranks} - {first.line.rank}
    order: dict[int, RankFailure] = {}
    for failure in ranked:
        for rank, line in failure.seen_at.items():
            if rank not in order or line < order[rank]["line"]:
                order[rank] = {
                    "rank": rank, "line": line, "role": failure.role, "exception": failure.exception,
                    "file": _name(names, failure.line.file),
                }  # fmt: skip
    return {
        "rank": first.line.rank, "line": first.line.number, "file": _name(names, first.line.file),
        "exception": first.exception, "followed": sorted(r for r in followed if r is not None),
        "order": sorted(order.values(), key=lambda o: (o["rank"] != first.line.rank, o["line"]))[:RANKS],
    }  # fmt: skip


def _ending(observations: Observations, names: list[str]) -> EndingShown:
    """How the log ends, and the line that shows it."""
    state, line, _ = observations.ending
    if line is None:
        return {**unseen_end(), "state": state}
    text = safe(plain(line.text), 400)
    return {"state": state, "line": line.number, "file": _name(names, line.file), "text": text}


def _culprit(observations: Observations, stopped: bool) -> Failure | None:
    """The failure that a reader would look at first: the last initiating one that ended something.

    Of a run that was stopped, after-effects are those of the stop.
    """
    for role in ("initiating",) if stopped else ("initiating", "cascade"):
        found = [f for f in observations.failures if f.role == role and f.exception and f.type != INTERRUPT]
        if found:
            return found[-1]
    return None


def _unexplained(
    culprit: Failure, observations: Observations, knowledge: Knowledge, names: list[str], lang: str, brief: bool
) -> Unexplained:
    from kb.likeness import nearest

    roles = Counter(f.role for f in observations.failures)
    return {
        "exception": culprit.exception,
        "message": safe(plain(culprit.message), 1000),
        "line": culprit.line.number,
        "file": _name(names, culprit.line.file),
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
    """A summary of every metric; the ones that people look at also bring the points to draw."""
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
    """JSON knows no NaN."""
    return value if value - value == 0 else str(value)


def _newer(shown: dict[str, str], checked: dict[str, str]) -> dict[str, str]:
    """Packages of which the log shows a newer release than the knowledge was checked against, with that release."""
    out = {}
    for package, version in shown.items():
        if package in checked:
            try:
                if versions.release(version) > versions.release(checked[package]):
                    out[package] = checked[package]
            except ValueError:
                continue
    return out


def _where(line: Line) -> str:
    """What tells a line's place beside its number: a notebook's cell, or that no input holds it."""
    return "" if line.number and not line.stream.startswith(CELL) else line.stream or "installed"


def _name(names: list[str], file: int) -> str:
    return names[file] if file < len(names) else ""
