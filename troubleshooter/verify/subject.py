"""What is to be verified: an entry by its id, or the diagnosis of a log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kb.compiled import translation
from kb.errors import TroubleshootError
from kb.nearest import did_you_mean

if TYPE_CHECKING:
    from troubleshooter.report.model import Report

__all__ = ["Reach", "Subject", "SubjectProblem", "of_entry", "of_log", "of_stdin", "reach"]

_HOLE = re.compile(r"<<[\w-]+(?::[a-z]+)?(?:\|([^>]*))?>>")


class SubjectProblem(TroubleshootError):
    """There is nothing to verify; the message names the next step. ``seen``: a log was read, but its failure is unknown."""

    def __init__(self, text: str, seen: bool = False) -> None:
        super().__init__(text)
        self.seen = seen
        self.exit_status = 3 if seen else 2


@dataclass(frozen=True)
class Fix:
    """A fix in the language of the answer. A probe's patterns are matched with ``english``."""

    do: str
    code: str | None = None
    shell: str | None = None
    english: str | None = None


@dataclass(frozen=True)
class Subject:
    """The entry to verify, with what a log says about the environment that wrote it."""

    id: str
    title: str
    versions: Mapping[str, str]
    fixes: Sequence[Fix]
    probe: Mapping[str, Any] | None
    folder: Path | None = None
    """The entry's folder, if it is known; records are kept in it."""
    site_folders: Sequence[str] = ()
    log_versions: Mapping[str, str] = field(default_factory=dict)
    from_log: Mapping[str, object] = field(default_factory=dict)
    """The probe's ``with`` values that the log filled in."""
    is_log: bool = False


def of_entry(id_: str, entries: Sequence[Path] = (), lang: str = "en") -> Subject:
    """The entry of that id, own folders on top. Raises `SubjectProblem`, and what `kb.cache.knowledge` raises."""
    from kb.cache import knowledge

    known = knowledge(*entries)
    found = known.find(id_)
    if found is None:
        hint = did_you_mean(id_, known.ids(), "`troubleshoot list` shows all")
        raise SubjectProblem(f"{id_} is neither a file nor an entry; {hint}")
    return _subject(found[0], entries, lang)


def of_log(path: Path, entries: Sequence[Path] = (), lang: str = "en", probes: Sequence[Path] = ()) -> Subject:
    """The first diagnosis of a log (a file or a run's folder) that can be verified. ``probes``: folders of a team's own."""
    from troubleshooter.read.sources import from_path

    return _of_sources(from_path(path), entries, lang, probes)


def of_stdin(entries: Sequence[Path] = (), lang: str = "en", probes: Sequence[Path] = ()) -> Subject:
    """The same for a log on standard input."""
    import sys

    from troubleshooter.read.sources import from_stream

    return _of_sources([from_stream(sys.stdin.buffer)], entries, lang, probes)


def _of_sources(sources: Sequence[Any], entries: Sequence[Path], lang: str, probes: Sequence[Path]) -> Subject:
    from troubleshooter.pipeline import Diagnoser
    from troubleshooter.rank import rank
    from troubleshooter.report.build import build

    tool = Diagnoser.load(entries)
    observations = tool.observe(sources)
    ranked = rank(tool.match(observations), observations)
    names = [source.name for source in sources]
    report = build(observations, ranked, tool.knowledge, names, lang=lang)
    english = build(observations, ranked, tool.knowledge, names, lang="en") if lang != "en" else report
    failures = [one for one in report.diagnoses if one.kind == "failure"]
    if not failures:
        text = "no entry explains the failure in this log" if report.unexplained else "no failure in this log"
        raise SubjectProblem(f"{text}: there is nothing to verify", seen=report.unexplained is not None)
    chosen = next((one for one in failures if one.probe), None)
    chosen = chosen or next((one for one in failures if one.versions.get("affected")), failures[0])
    found = tool.knowledge.find(chosen.id)
    captured = next((r.candidate.trial.captured for r in ranked if r.candidate.id == chosen.id), {})
    values = _values(chosen.probe, captured, probes)
    return Subject(
        id=chosen.id,
        title=chosen.title,
        versions=dict(chosen.versions.get("affected") or {}),
        fixes=[
            Fix(fix.do, fix.code, fix.shell, other.do)
            for one in english.diagnoses
            if one.id == chosen.id
            for fix, other in zip(chosen.fixes, one.fixes, strict=True)
        ],
        probe=chosen.probe and {**chosen.probe, "with": {**(chosen.probe.get("with") or {}), **values}},
        from_log=values,
        is_log=True,
        folder=_folder(chosen.id, str(found[0].get("area", "")) if found else "", entries),
        site_folders=_site_folders(report),
        log_versions=_versions(report),
    )


@dataclass(frozen=True)
class Reach:
    """The numbers of entries that can be checked in an environment."""

    failures: int
    """The number of entries about failures."""
    probes: int
    """How many of them have a probe."""
    with_versions: Sequence[Subject]
    """The entries with a version range."""
    checkable: int
    """How many have a probe, a version range, or both."""


def reach(entries: Sequence[Path] = (), lang: str = "en") -> Reach:
    """Count all entries about failures, and list those with version ranges, which can be compared with an environment."""
    from kb.cache import knowledge

    bodies = knowledge(*entries).bodies()
    failures = [body for body in bodies if body["kind"] == "failure" and not body.get("replaced_by")]
    return Reach(
        failures=len(failures),
        probes=sum(bool(body.get("probe")) for body in failures),
        with_versions=[_subject(body, entries, lang) for body in failures if body.get("versions")],
        checkable=sum(bool(body.get("probe") or body.get("versions")) for body in failures),
    )


def _subject(body: Mapping[str, Any], entries: Sequence[Path], lang: str) -> Subject:
    text = translation(body, lang) or {}
    translated = text.get("fixes") or []
    fixes = []
    for number, fix in enumerate(body.get("fixes", ())):
        do = translated[number]["do"] if number < len(translated) else fix["do"]
        fixes.append(Fix(_plain(do) or "", _plain(fix.get("code")), _plain(fix.get("shell")), fix["do"]))
    return Subject(
        id=body["id"],
        title=_plain((text or body)["title"]) or body["id"],
        versions=dict(body.get("versions") or {}),
        fixes=fixes,
        probe=body.get("probe"),
        folder=_folder(body["id"], str(body.get("area", "")), entries),
    )


def _values(probe: Mapping[str, Any] | None, captured: Mapping[str, str], folders: Sequence[Path]) -> dict[str, object]:
    """The probe's ``with`` values that the log fills in, without values that the probe does not accept."""
    if not probe or not probe.get("with"):
        return {}
    from troubleshooter.report.fill import fill
    from troubleshooter.verify.probe import ProbeProblem, load

    found: dict[str, object] = {}
    for key, value in probe["with"].items():
        if isinstance(value, str) and "<<" in value and (said := fill(value, dict(captured))):
            for form in _forms(said):
                try:
                    load(str(probe["name"]), folders).options({key: form})
                except ProbeProblem:
                    continue  # the log holds an unusual value; the entry is right
                found[key] = form
                break
    return found


def _forms(said: str) -> Iterator[str | int]:
    """Readings of a value of a log: unchanged, as a number, in lower case, and a Python set or list without its brackets."""
    yield said
    if said.isascii() and said.isdigit():
        yield int(said)
    yield said.lower()
    yield re.sub(r"[{}\[\]'\" ]", "", said)


def _plain(text: str | None) -> str | None:
    """A text that no log fills in: placeholders are replaced by their default or their name."""
    return _HOLE.sub(lambda hole: hole[1] or "…", text) if text else None


def _folder(id_: str, area: str, entries: Sequence[Path]) -> Path | None:
    from kb.cache import shipped

    for root in (*reversed(entries), shipped()):
        if root is None:
            continue
        # A team's folder may hold its entries without areas, or be one entry.
        for folder in (root / area / id_, root / id_, *([root] if root.name == id_ else [])):
            if (folder / "entry.yaml").is_file():
                return folder
    return None


def _site_folders(report: Report) -> list[str]:
    from troubleshooter.paths import site_folders

    files = (str(frame.get("file", "")) for failure in report.failures for frame in failure.frames)
    texts = (line.text for one in report.diagnoses for line in one.evidence)
    return site_folders("\n".join((*files, *texts)))


def _versions(report: Report) -> dict[str, str]:
    """The versions of packages for which the log names exactly one."""
    stated = report.facts.get("versions") or {}
    found = {}
    for name, value in stated.items():
        given = value if isinstance(value, list) else [value]
        if len(given) == 1 and isinstance(given[0], str):
            found[name] = given[0]
    return found
