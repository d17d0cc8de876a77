"""From a run, or from installed versions alone, to a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from troubleshooter.verify import fixes
from troubleshooter.verify.entry import EntryLike, ranges, standing
from troubleshooter.verify.environment import Environment
from troubleshooter.verify.fixes import Repaired
from troubleshooter.verify.outcome import ProbeOutcome, Row, describe
from troubleshooter.verify.verdict import Said, Verdict
from troubleshooter.verify.words import say

__all__ = ["by_run", "by_versions", "of_log"]


def by_versions(entry: EntryLike, environment: Environment, language: str = "en", why: str | None = None) -> Verdict:
    """The answer from installed versions alone: ``not-here``, or ``cannot-tell`` because nothing was run."""
    where, what = standing(entry, environment)
    installed = {package: environment.versions.get(package) for package in entry.versions}
    said: Said = "cannot-tell"
    if where == "outside":
        said = "not-here"
        reason = say("outside", language, package=what, version=installed[what], range=entry.versions[what])
    elif where == "missing":
        reason = say("missing", language, packages=what, python=environment.python)
    elif where == "inside":
        shown = ", ".join(f"{package} {version}" for package, version in installed.items())
        reason = say("inside", language, versions=shown, why=why or say("no-probe", language))
    else:
        reason = why or say("no-range", language)
    return Verdict(
        entry.id, said, "versions", reason, _environment(environment, "cpu"), fixes=fixes.before_run(entry, language)
    )


def by_run(
    entry: EntryLike,
    environment: Environment,
    outcome: ProbeOutcome,
    device: str,
    language: str = "en",
    repaired: Repaired = (),
) -> Verdict:
    """The answer from what the probe said on its private channel.

    ``repaired`` are the recorded runs that did not show the failure: they are the evidence for an upgrade.
    """
    symptoms = outcome.of("symptom")
    occurred = [row for row in symptoms if row.get("occurred") is True]
    said: Said = "cannot-tell"
    if refused := outcome.of("refused"):
        reason = say("refused", language, what=refused[0].get("what"))
    elif outcome.status != "ended":
        reason = outcome.detail
    elif occurred:
        said = "confirmed"
        reason = say("occurred", language, what=describe(occurred[0]))
    elif undecided := outcome.of("undecided"):
        reason = str(undecided[0].get("reason"))
    elif strange := [row for row in symptoms if row.get("occurred") is not False]:
        reason = say("other-failure", language, what=describe(strange[0]))
    elif symptoms:
        said = "not-here"
        reason = say("did-not-occur", language, cases="; ".join(describe(row) for row in symptoms))
    else:
        reason = say("mechanism-only" if outcome.of("mechanism") else "silent", language)
    notes = [str(row.get("text")) for row in outcome.of("note")] + list(outcome.notes)
    where, _ = standing(entry, environment)
    if said == "not-here" and where == "inside":
        notes.append(say("contradiction", language, range=ranges(entry)))
    if said == "confirmed" and where == "outside":
        notes.append(say("contradiction-outside", language, range=ranges(entry)))
    return Verdict(
        entry=entry.id,
        verdict=said,
        basis="run",
        reason=reason,
        environment={**_environment(environment, device), **_confinement(outcome)},
        symptom=_symptom(symptoms),
        fixes=fixes.after_run(entry, outcome.of("fix") if said == "confirmed" else [], language, repaired),
        seconds=outcome.seconds,
        peak_mb=outcome.peak_mb,
        notes=tuple(notes),
        mechanism=tuple(_without(row, "kind") for row in outcome.of("mechanism")),
        tail=outcome.tail if outcome.status != "ended" else "",
    )


def of_log(
    said: Verdict, *, settled: bool, same: bool | None, from_log: Mapping[str, object], language: str = "en"
) -> Verdict:
    """The answer of a run as an answer about a log.

    ``settled``: the log gave the run every value that decides its outcome. ``same``: the run's environment is the log's
    (``None`` where the log does not say). Unless both hold, a failure confirms only its kind; without ``settled``, a run
    that did not fail says nothing about the log's failure.
    """
    said = replace(said, question="log" if settled else "kind", from_log=from_log, same_environment=same)
    if said.basis != "run":
        return replace(said, question="log")  # an entry's version ranges hold for every log
    if said.verdict == "confirmed" and (not settled or same is False):
        key = "kind-other-environment" if settled else "kind-occurred"
        what = describe({"case": said.symptom.get("case"), "observed": said.symptom})
        return replace(said, verdict="kind-confirmed", question="kind", reason=say(key, language, what=what))
    if said.verdict == "not-here" and not settled:
        return replace(said, verdict="cannot-tell", reason=say("kind-did-not-occur", language, cases=said.reason))
    return said


def _environment(environment: Environment, device: str) -> dict[str, Any]:
    return {
        "python": environment.python,
        "python_version": environment.version,
        "versions": dict(environment.versions),
        "device": device,
    }


def _confinement(outcome: ProbeOutcome) -> dict[str, Any]:
    """How the kernel confined the probe, as it reported at its start; only TCP sockets can be closed to C code."""
    said = [row["confinement"] for row in outcome.of("boot") if row.get("confinement")]
    return {"confinement": str(said[0])} if said else {}


def _symptom(rows: Sequence[Row]) -> dict[str, Any]:
    """The decisive case (the first that failed), and under ``cases`` all of them."""
    if not rows:
        return {}
    first = next((row for row in rows if row.get("occurred") is True), rows[0])
    observed = dict(first.get("observed") or {})
    cases = [{"case": row.get("case"), "occurred": row.get("occurred"), **(row.get("observed") or {})} for row in rows]
    return {"case": first.get("case"), "occurred": first.get("occurred"), **observed, "cases": cases}


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}
