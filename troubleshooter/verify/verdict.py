"""What a run, or the installed versions alone, mean: ``confirmed``, ``kind-confirmed``, ``not-here`` or ``cannot-tell``.

``kind-confirmed``: a log was asked about, and the failure that was seen is of its kind, but with the probe's own values, or in
another environment. It says that such a failure exists here, not that it is the log's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from kb import versions
from troubleshooter.verify.environment import Environment
from troubleshooter.verify.words import say

if TYPE_CHECKING:  # an answer from versions alone needs no runner
    from troubleshooter.verify.runner import ProbeOutcome, Row

__all__ = [
    "Basis",
    "EntryLike",
    "FixLike",
    "FixResult",
    "Question",
    "Said",
    "Verdict",
    "asked_probe",
    "asks_the_log",
    "by_run",
    "by_versions",
    "of_log",
    "ranges",
    "standing",
]

SCHEMA_VERSION = 1
Said = Literal["confirmed", "kind-confirmed", "not-here", "cannot-tell"]
Question = Literal["entry", "log", "kind"]
"""Whose question was answered: an entry's, that of a log with its own values, or only that of a log's kind of failure."""
Basis = Literal["run", "versions"]
Repaired = Sequence[tuple[Mapping[str, str], str]]
Standing = Literal["inside", "outside", "missing", "no-range"]

EXIT: Mapping[Said, int] = {"not-here": 0, "confirmed": 1, "kind-confirmed": 3, "cannot-tell": 3}


class FixLike(Protocol):
    """What verifying reads of an entry's fix."""

    @property
    def do(self) -> str: ...
    @property
    def code(self) -> str | None: ...
    @property
    def shell(self) -> str | None: ...


class EntryLike(Protocol):
    """What verifying reads of an entry. ``probe`` holds a name and its ``with`` values, or is ``None``."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def fixes(self) -> Sequence[Any]: ...
    @property
    def probe(self) -> Any: ...


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
    """The probe's values that the log filled in."""
    same_environment: bool | None = None
    symptom: Mapping[str, Any] = field(default_factory=dict)
    fixes: tuple[FixResult, ...] = ()
    seconds: float = 0.0
    peak_mb: int = 0
    notes: tuple[str, ...] = ()
    mechanism: tuple[Mapping[str, Any], ...] = ()
    tail: str = ""
    """What the probe printed last; shown where the probe itself failed."""

    @property
    def exit_code(self) -> int:
        return EXIT[self.verdict]

    def as_json(self) -> dict[str, Any]:
        """The contract of ``--format json``."""
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


def asked_probe(entry: EntryLike) -> tuple[str, Mapping[str, Any]] | None:
    """The probe that an entry names, whichever way its ``with`` values are held.

    A value with a placeholder (``<<name>>``) that no log has filled in is left out.
    """
    named = _named(entry)
    return None if named is None else (named[0], {k: v for k, v in named[1].items() if not _hole(v)})


def asks_the_log(entry: EntryLike) -> bool:
    """Whether a log fills in some of the probe's ``with`` values: one entry, many questions."""
    named = _named(entry)
    return named is not None and any(_hole(value) for value in named[1].values())


def _hole(value: object) -> bool:
    return isinstance(value, str) and "<<" in value


def _named(entry: EntryLike) -> tuple[str, Mapping[str, Any]] | None:
    probe = entry.probe
    if probe is None:
        return None
    if isinstance(probe, (tuple, list)):
        return str(probe[0]), probe[1] or {}
    if isinstance(probe, Mapping):
        return str(probe["name"]), probe.get("with") or {}
    return str(probe.name), getattr(probe, "with_", None) or {}


def ranges(entry: EntryLike) -> str:
    """An entry's version ranges in one line."""
    return ", ".join(f"{package} {range_}" for package, range_ in entry.versions.items())


def standing(entry: EntryLike, environment: Environment) -> tuple[Standing, str]:
    """Where the installed versions stand: all ranges must hold for an environment to be affected."""
    missing = []
    for package, range_ in entry.versions.items():
        installed = environment.versions.get(package)
        if installed is None:
            missing.append(package)
            continue
        try:
            if not versions.contains(range_, installed):
                return "outside", package
        except ValueError:  # a version that is none ("main", a hash): as good as not known
            missing.append(package)
    if missing:
        return "missing", ", ".join(missing)
    return ("inside", "") if entry.versions else ("no-range", "")


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
    return Verdict(entry.id, said, "versions", reason, _facts(environment, "cpu"), fixes=_upgrades(entry, language))


def by_run(
    entry: EntryLike,
    environment: Environment,
    outcome: ProbeOutcome,
    device: str,
    language: str = "en",
    repaired: Repaired = (),
) -> Verdict:
    """The answer from what the probe said on its private channel.

    ``repaired`` are the versions and dates of recorded runs that did not show the failure: they speak for upgrades.
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
        reason = say("occurred", language, what=_watched(occurred[0]))
    elif undecided := outcome.of("undecided"):
        reason = str(undecided[0].get("reason"))
    elif strange := [row for row in symptoms if row.get("occurred") is not False]:
        reason = say("other-failure", language, what=_watched(strange[0]))
    elif symptoms:
        said = "not-here"
        reason = say("did-not-occur", language, cases="; ".join(_watched(row) for row in symptoms))
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
        environment={**_facts(environment, device), **_confinement(outcome)},
        symptom=_symptom(symptoms),
        fixes=_fixes(entry, outcome.of("fix") if said == "confirmed" else [], language, repaired),
        seconds=outcome.seconds,
        peak_mb=outcome.peak_mb,
        notes=tuple(notes),
        mechanism=tuple(_without(row, "kind") for row in outcome.of("mechanism")),
        tail=outcome.tail if outcome.status != "ended" else "",
    )


def of_log(
    said: Verdict, *, settled: bool, same: bool | None, from_log: Mapping[str, object], language: str = "en"
) -> Verdict:
    """The answer of a run as one about a log.

    ``settled``: the run had all that decides it from the log; ``same``: it was made in the log's environment. Without the
    one or with another environment a failure confirms its kind alone, and a run without one says nothing of the log's.
    """
    said = replace(said, question="log" if settled else "kind", from_log=from_log, same_environment=same)
    if said.basis != "run":
        return replace(said, question="log")  # the versions of an entry are those of all its runs
    if said.verdict == "confirmed" and (not settled or same is False):
        key = "kind-other-environment" if settled else "kind-occurred"
        what = _watched({"case": said.symptom.get("case"), "observed": said.symptom})
        return replace(said, verdict="kind-confirmed", question="kind", reason=say(key, language, what=what))
    if said.verdict == "not-here" and not settled:
        return replace(said, verdict="cannot-tell", reason=say("kind-did-not-occur", language, cases=said.reason))
    return said


def _facts(environment: Environment, device: str) -> dict[str, Any]:
    return {
        "python": environment.python,
        "python_version": environment.version,
        "versions": dict(environment.versions),
        "device": device,
    }


def _confinement(outcome: ProbeOutcome) -> dict[str, Any]:
    """What the kernel kept the probe from; a library's own C code can still open sockets that are not TCP."""
    said = [row["confinement"] for row in outcome.of("boot") if row.get("confinement")]
    return {"confinement": str(said[0])} if said else {}


def _watched(row: Row) -> str:
    """What was seen, in a line."""
    observed = row.get("observed") or {}
    case = str(row.get("case") or "")
    if observed.get("measured"):
        return f"{case}: {observed['measured']}" if case else str(observed["measured"])
    if observed.get("exception"):
        message = (str(observed.get("matched") or observed.get("message") or "").strip().splitlines() or [""])[0]
        return f"{observed['exception']}: {message[:300]} ({case})"
    return case


def _symptom(rows: Sequence[Row]) -> dict[str, Any]:
    """The decisive case in front, all cases behind."""
    if not rows:
        return {}
    first = next((row for row in rows if row.get("occurred") is True), rows[0])
    observed = dict(first.get("observed") or {})
    cases = [{"case": row.get("case"), "occurred": row.get("occurred"), **(row.get("observed") or {})} for row in rows]
    return {"case": first.get("case"), "occurred": first.get("occurred"), **observed, "cases": cases}


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


def _fixes(entry: EntryLike, rows: Sequence[Row], language: str, repaired: Repaired) -> tuple[FixResult, ...]:
    """The entry's fixes with what the run says about each, then what the probe tried besides."""
    used: set[str] = set()
    results = []
    for plain, fix in zip(_upgrades(entry, language, repaired), entry.fixes, strict=True):
        matching = _matching(fix, rows)
        used.update(str(row.get("name")) for row in matching)
        results.append(_merged(plain, matching, language) if matching else plain)
    for row in rows:
        if str(row.get("name")) not in used:
            results.append(replace(_merged(FixResult(str(row.get("do")), None), [row], language), in_entry=False))
    return tuple(results)


def _matching(fix: FixLike, rows: Sequence[Row]) -> list[Row]:
    """The probe's fixes that are this one: those whose words match most of its text."""
    english = getattr(fix, "english", None) or fix.do  # the probe's words are English, whatever the answer speaks
    text = "\n".join(part for part in (fix.code, fix.shell, english) if part)
    lengths: list[tuple[int, Row]] = []
    for row in rows:
        words = str(row.get("words") or "")
        found = re.search(words, text, re.IGNORECASE) if words else None
        if found:
            lengths.append((len(found[0]), row))
    best = max((length for length, _ in lengths), default=0)
    return [row for length, row in lengths if length == best]


def _merged(plain: FixResult, rows: Sequence[Row], language: str) -> FixResult:
    """One fix that was tried in several cases helps only where it helped in each."""
    removed = [row.get("removed") for row in rows]
    verdict = False if False in removed else None if None in removed else True
    texts = []
    for row in rows:
        if row.get("text"):
            texts.append(str(row["text"]))
        elif row.get("removed") is False and len(rows) > 1:
            texts.append(f"{row.get('do')}: {say('not-removed', language)}")
        elif row.get("removed") is None and (row.get("observed") or {}).get("exception"):
            texts.append(say("fix-other", language, what=_watched(row)))
    cost: Mapping[str, Any] = next((row["cost"] for row in rows if row.get("cost")), {})
    return FixResult(plain.do, verdict, cost, "; ".join(texts) or plain.text)


_REQUIREMENT = re.compile(r"([A-Za-z][\w.-]*)\s*(>=|==|~=)\s*(\d[\w.]*)")


def _upgrades(entry: EntryLike, language: str, repaired: Repaired = ()) -> tuple[FixResult, ...]:
    """The entry's fixes before any run: of an upgrade it can be said whether it leaves the affected range."""
    results = []
    for fix in entry.fixes:
        text = None
        for name, _, version in _REQUIREMENT.findall(fix.shell or ""):
            range_ = entry.versions.get(name.lower())
            if range_ is None:
                continue
            try:
                inside = versions.contains(range_, version)
            except ValueError:
                continue
            key = "stays-in-range" if inside else "leaves-range"
            shown = "" if inside else _recorded(name, version, repaired, language)
            text = say(key, language, package=name, version=version, recorded=shown)
        results.append(FixResult(fix.do, None, text=text))
    return tuple(results)


def _recorded(package: str, version: str, repaired: Repaired, language: str) -> str:
    """What the records say about that version or a newer one."""
    for installed, date in repaired:
        try:
            if package in installed and versions.contains(f">={version}", installed[package]):
                return say("recorded", language, package=package, version=installed[package], date=date)
        except ValueError:
            continue
    return ""
