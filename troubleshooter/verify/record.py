"""Records of runs, the evidence that an entry is verified. A run writes them, nobody by hand; ``check`` reads them."""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kb import versions
from kb.errors import TroubleshootError
from kb.files import contents
from kb.home import home
from kb.problem import Problem
from troubleshooter.verify import probe as probes
from troubleshooter.verify.entry import EntryLike, asked_probe, asks_the_log, ranges
from troubleshooter.verify.probe import Options, Probe, ProbeProblem
from troubleshooter.verify.verdict import Verdict

__all__ = ["FOLDER", "Record", "RecordProblem", "check_records", "folder_for", "read", "write"]

FOLDER: Final = "verified"
SCHEMA: Final = 1
_STACK: Final = ("torch", "transformers", "accelerate", "peft", "trl", "bitsandbytes", "datasets", "unsloth")
"""The name of a record's file holds the versions of these packages, which decide most failures."""


@dataclass(frozen=True)
class Record:
    """One recorded run."""

    path: Path
    entry: str
    verdict: str
    basis: str
    date: str
    device: str
    versions: Mapping[str, str]
    probe: str
    options: Mapping[str, Any]
    sha256: str
    fixes: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, order=True)
class RecordProblem(Problem):
    """A problem of an entry's records; with ``fails`` false it is only listed."""

    fails: bool = True


class NoHome(TroubleshootError):
    """The user has no home folder, and one is needed."""


def data_folder() -> Path:
    """The folder of a user's own records, for entries in an installed package. Raises `NoHome`."""
    name, below = ("LOCALAPPDATA", "AppData/Local") if sys.platform == "win32" else ("XDG_DATA_HOME", ".local/share")
    base = os.environ.get(name)
    if not base:
        if (own := home()) is None:
            raise NoHome(f"there is no home folder to keep records in; give --record-to DIR, or set {name}")
        base = os.path.join(own, below)
    return Path(base) / "llm-troubleshooter" / FOLDER


def folder_for(entry: str, entry_folder: Path | None, asked: Path | None = None) -> Path:
    """The folder for a record: the one that was asked for, else the entry's, else one in the user's data folder."""
    if asked is not None:
        return asked / entry
    if entry_folder is not None and (entry_folder / "entry.yaml").is_file() and os.access(entry_folder, os.W_OK):
        return entry_folder / FOLDER
    return data_folder() / entry


def write(verdict: Verdict, probe: Probe, options: Options, folder: Path) -> Path:
    """Write the record of a run. It replaces an earlier one with the same versions."""
    installed: Mapping[str, str] = verdict.environment["versions"]
    stack = {name: installed[name] for name in _STACK if name in installed}
    shown = _without_paths(verdict.as_json())
    for name in ("output", "same_environment"):
        shown.pop(name, None)
    shown["environment"] = {
        "versions": dict(sorted(installed.items())),
        "device": verdict.environment["device"],
        "python_version": verdict.environment["python_version"],
        "platform": f"{platform.system()}-{platform.machine()}",
    }
    record = {
        "schema": SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "probe": {"name": probe.name, "with": options, "sha256": probe.sha256},
        **shown,
    }
    named = [f"{name}-{version}" for name, version in stack.items()]
    default = probe.options({})
    named += [f"{key}-{value}" for key, value in options.items() if default.get(key) != value]
    device = str(verdict.environment["device"]).partition(":")[0]
    name = re.sub(r"[^A-Za-z0-9_.+-]", "", "_".join([*named, device]) or "environment")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    temporary.replace(path)
    return path


_PATH: Final = re.compile(r"(?:(?<![\w.~/:…])/|\b[A-Za-z]:\\)(?:[^\s'\"/\\:,()]+[/\\]){2,}")


def _without_paths(said: Any) -> Any:
    """The values without folders of this machine, because records are shared."""
    if isinstance(said, str):
        return _PATH.sub("…/", said)
    if isinstance(said, list):
        return [_without_paths(one) for one in said]
    if isinstance(said, dict):
        return {key: _without_paths(value) for key, value in said.items()}
    return said


def read(folder: Path) -> tuple[list[Record], list[RecordProblem]]:
    """All records of a folder, and a problem for each file that is not a record."""
    records, problems = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(contents(path, folder))
            records.append(
                Record(
                    path=path,
                    entry=str(data["entry"]),
                    verdict=str(data["verdict"]),
                    basis=str(data["basis"]),
                    date=str(data["date"]),
                    device=str(data["environment"]["device"]),
                    versions=dict(data["environment"]["versions"]),
                    probe=str(data["probe"]["name"]),
                    options=dict(data["probe"]["with"]),
                    sha256=str(data["probe"]["sha256"]),
                    fixes=list(data["fixes"]),
                )
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as fault:
            text = f"is no record of a run ({type(fault).__name__}: {fault})"
            problems.append(_problem(path, text, "delete it, or write it with `troubleshoot verify --record`"))
    return records, problems


def _problem(path: Path, message: str, hint: str = "", fails: bool = True, field: str = "") -> RecordProblem:
    return RecordProblem(path, 1, 1, field, message, hint, fails)


def check_records(entry: EntryLike, folder: Path, probe_folders: Sequence[Path] = ()) -> list[RecordProblem]:
    """Records that contradict the entry, and claims of the entry that no record supports.

    ``folder`` is the entry's own folder, ``probe_folders`` are those with a team's own probes. Problems with ``fails`` are contradictions, unreadable records, and probes or
    ``with`` values that do not exist; the others are claims without a record and records of an older probe file.
    """
    place = folder / "entry.yaml"
    asked = asked_probe(entry)
    if asked is None:
        return []
    name, given = asked
    try:
        probe = probes.load(name, probe_folders)
        options = probe.options(given)
    except ProbeProblem as fault:
        return [_problem(place, str(fault), field="probe")]
    records, problems = read(folder / FOLDER)
    ran = [record for record in records if record.basis == "run"]
    for record in ran:
        if record.entry != entry.id or record.probe != name:
            text = f"records probe {record.probe} for {record.entry}, but the entry asks {name}"
            problems.append(_problem(record.path, text, "move or delete it", False))
            continue
        problems += _against(entry, record)
        if record.sha256 != probe.sha256:
            text = f"was written by an older {name} probe"
            problems.append(_problem(record.path, text, "python -m troubleshooter.verify.matrix refreshes it", False))
    many = asks_the_log(entry)
    current = [r for r in ran if r.entry == entry.id and (many or dict(r.options) == dict(options))]
    problems += _unproven(entry, current, place)
    return problems


def _inside(entry: EntryLike, record: Record) -> bool | None:
    """Whether a record's versions are in the entry's ranges; ``None`` if the record does not name them."""
    for package, range_ in entry.versions.items():
        installed = record.versions.get(package)
        try:
            if installed is None or not versions.contains(range_, installed):
                return None if installed is None else False
        except ValueError:
            return None
    return True


def _against(entry: EntryLike, record: Record) -> list[RecordProblem]:
    if not entry.versions:
        return []
    inside = _inside(entry, record)
    claimed = f"`versions: {ranges(entry)}`"
    here = ", ".join(f"{package} {record.versions.get(package)}" for package in entry.versions)
    if record.verdict == "confirmed" and inside is False:
        text = f"the failure was confirmed with {here}, outside of {claimed}"
        return [_problem(record.path, text, "widen the range", field="versions")]
    if record.verdict == "not-here" and inside is True:
        text = f"the failure did not occur with {here}, inside of {claimed}"
        return [_problem(record.path, text, "narrow the range, or say what else it needs", field="versions")]
    return []


def _unproven(entry: EntryLike, records: Sequence[Record], place: Path) -> list[RecordProblem]:
    if not any(record.verdict == "confirmed" for record in records):
        text = "no recorded run confirms this failure"
        return [_problem(place, text, "python -m troubleshooter.verify.matrix --only " + entry.id, False, "probe")]
    if entry.versions and not any(record.verdict == "not-here" for record in records):
        text = f"no recorded run shows a repaired version for {ranges(entry)}"
        return [_problem(place, text, "record one outside of the range", False, "versions")]
    if not entry.versions and not any(fix.get("removes_symptom") for r in records for fix in r.fixes):
        return [_problem(place, "no recorded run shows a fix that helps", "", False, "fixes")]
    return []
