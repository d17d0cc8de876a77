"""Run the probes over affected and repaired version pairs, and refresh the records.

    python -m troubleshooter.verify.matrix                       every entry with a probe, records beside the entries
    python -m troubleshooter.verify.matrix --only cache-object-float --envs DIR
    python -m troubleshooter.verify.matrix --probes --record DIR  the probes themselves, before any entry names them
    python -m troubleshooter.verify.matrix --list                what would run
    python -m troubleshooter.verify.matrix --device cuda --all --record DIR   everything on this machine's GPU (docs/gpu.md)

Environments are one virtual environment with torch and a folder for each other package and version (``overlays``), made
on demand under ``--envs``, else ``TROUBLESHOOT_ENVS``, else the user's cache. The pairs stand in the probes' files.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kb import versions as ranges
from kb.errors import TroubleshootError
from troubleshooter.verify import environment, judge, probe, record, runner
from troubleshooter.verify.entry import EntryLike, asked_probe, asks_the_log
from troubleshooter.verify.overlays import Overlays, Unbuildable, default_folder
from troubleshooter.verify.probe import Options, Probe
from troubleshooter.verify.verdict import Verdict

__all__ = ["MatrixJob", "Result", "jobs", "main", "over", "rerun", "rerun_problems"]


@dataclass(frozen=True)
class Bare:
    """A probe without an entry: what ``--probes`` runs."""

    id: str
    title: str
    probe: tuple[str, Mapping[str, Any]]
    versions: Mapping[str, str] = field(default_factory=dict)
    fixes: Sequence[Any] = ()


@dataclass(frozen=True)
class MatrixJob:
    """One probe over one set of versions."""

    entry: EntryLike
    folder: Path | None
    probe: Probe
    options: Options
    expected: str
    versions: Mapping[str, str]

    def __str__(self) -> str:
        shown = " ".join(f"{name}={version}" for name, version in self.versions.items())
        return f"{self.entry.id} [{self.probe.name}] {shown or 'torch alone'}"


@dataclass(frozen=True)
class Result:
    job: MatrixJob
    verdict: Verdict
    path: Path | None = None

    @property
    def agrees(self) -> bool:
        return self.verdict.verdict == self.job.expected


def jobs(entries: Iterable[tuple[EntryLike, Path | None]]) -> Iterator[MatrixJob]:
    """Every version set of every entry's probe, with the verdict that the entry's ranges (else the pair) expect.

    A pair with parameters of its own belongs to entries that ask for these (and to entries that leave them to the log); an
    entry whose parameters no pair names is tried over all version sets of the probe.
    """
    for entry, folder in entries:
        asked = asked_probe(entry)
        if asked is None:
            continue
        shipped = probe.load(asked[0])
        options = shipped.options(asked[1])
        if asks_the_log(entry):
            for expected, versions, *given in shipped.pairs:
                yield MatrixJob(entry, folder, shipped, shipped.options(given[0] if given else {}), expected, versions)
            continue
        own = [pair for pair in shipped.pairs if shipped.options(pair[2] if len(pair) > 2 else {}) == options]
        if not own and not entry.versions:
            continue  # nothing says what to expect
        seen: list[Mapping[str, str]] = []
        for expected, versions, *_ in own or shipped.pairs:
            if versions not in seen:
                seen.append(versions)
                yield MatrixJob(entry, folder, shipped, options, _expected(entry, versions, expected), versions)


def _expected(entry: EntryLike, installed: Mapping[str, str], otherwise: str) -> str:
    """What an entry's ranges say about a version set; a package that the set does not state is left out."""
    if not entry.versions:
        return otherwise
    stated = {package: range_ for package, range_ in entry.versions.items() if package in installed}
    inside = all(ranges.contains(range_, installed[package]) for package, range_ in stated.items())
    return "confirmed" if inside else "not-here"


def bare() -> Iterator[tuple[EntryLike, Path | None]]:
    """Every probe with every set of parameters that its pairs name."""
    for name in probe.names():
        shipped = probe.load(name)
        seen: list[Options] = []
        for _, _, *given in shipped.pairs:
            asked = given[0] if given else {}
            options = shipped.options(asked)
            if options not in seen:
                seen.append(options)
                suffix = "".join(f"-{value}" for value in asked.values())
                yield Bare(f"{name}{suffix}", shipped.question, (name, asked)), None


def over(job: MatrixJob, overlays: Overlays, limits: runner.Limits | None = None) -> Verdict:
    """Run one job in the environment of its versions."""
    path = overlays.path(job.versions)
    environ = {**os.environ, "PYTHONPATH": path, "PYTHONNOUSERSITE": "1"}
    asked = _ask(str(overlays.python), environ, (*job.probe.needs, *job.versions))
    outcome = runner.run(
        job.probe, str(overlays.python), job.options, environ=environ, limits=limits or runner.Limits(seconds=180)
    )
    return judge.by_run(job.entry, asked, outcome, "cpu")


def _ask(python: str, environ: Mapping[str, str], packages: Sequence[str]) -> environment.Environment:
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = environ["PYTHONPATH"]
    try:
        return environment.ask(python, packages)
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


def rerun(
    entries: Iterable[tuple[EntryLike, Path]], count: int, overlays: Overlays, seed: int | None = None
) -> Iterator[tuple[record.Record, Verdict | str]]:
    """Run a few records again, chosen at random: the record, and the new verdict or why it could not be had."""
    known = [(e, r) for e, folder in entries for r in record.read(folder / record.FOLDER)[0] if r.basis == "run"]
    for entry, old in random.Random(seed).sample(known, min(count, len(known))):
        shipped = probe.load(old.probe)
        pair = next((v for _, v, *_ in shipped.pairs if all(old.versions.get(n) == x for n, x in v.items())), None)
        if pair is None:
            yield old, f"{old.path.name}: its versions are none of the pairs in {shipped.path.name}"
            continue
        job = MatrixJob(entry, None, shipped, shipped.options(old.options), old.verdict, pair)
        try:
            yield old, over(job, overlays)
        except Unbuildable as problem:
            yield old, str(problem)


def rerun_problems(
    entries: Iterable[tuple[EntryLike, Path]], count: int, overlays: Overlays, seed: int | None = None
) -> Iterator[record.RecordProblem]:
    """``check --rerun N``: records whose run gives another verdict today (``fails``), or that could not be run again."""
    for old, new in rerun(entries, count, overlays, seed):
        if isinstance(new, str):
            yield record.RecordProblem(old.path, 1, 1, "", f"could not be run again: {new}", "", False)
        elif new.verdict != old.verdict:
            text = f"recorded {old.verdict} on {old.date}, but it is {new.verdict} today: {new.reason}"
            yield record.RecordProblem(old.path, 1, 1, "verdict", text, "find out which is right, then record it again")


def _entries(folders: Sequence[Path], only: Sequence[str]) -> list[tuple[EntryLike, Path | None]]:
    from kb.load import load

    library = load(*folders).usable()  # others may be at work on theirs
    return [(one.entry, one.folder) for name, one in library.entries.items() if not only or name in only]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 when a verdict differs from what the pair says, 2 when an environment cannot be made."""
    parser = argparse.ArgumentParser(prog="python -m troubleshooter.verify.matrix", description=__doc__.split("\n")[0])
    parser.add_argument("--entries", type=Path, action="append", help="folder of entries (default: entries)")
    parser.add_argument("--envs", type=Path, default=default_folder(), help="folder of environments")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="only this entry (or probe)")
    parser.add_argument("--probes", action="store_true", help="the probes themselves, without entries")
    parser.add_argument("--record", type=Path, help="write records below this folder instead of beside the entries")
    parser.add_argument("--no-record", action="store_true", help="write no records")
    parser.add_argument("--list", action="store_true", help="only say what would run")
    parser.add_argument(
        "--all", action="store_true", help="everything that verification does on a device, in one environment"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), help="the device for --all (default: cuda)")
    parser.add_argument("--python", help="the interpreter with torch for --all (default: this one)")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels that --all needs besides, such as bitsandbytes")
    parser.add_argument("--dry-run", action="store_true", help="with --all: only say which steps there are")
    chosen = parser.parse_args(arguments)
    if chosen.all:
        from troubleshooter.verify.gpu.command import try_all

        try:
            return try_all(
                chosen.device or "cuda", chosen.python, chosen.wheels, chosen.record, chosen.dry_run, chosen.only
            )
        except TroubleshootError as problem:
            print(problem, file=sys.stderr)
            return 2
    if chosen.device or chosen.python or chosen.wheels or chosen.dry_run:
        parser.error(
            "--device, --python, --wheels and --dry-run belong to --all; the pairs of versions run on the processor"
        )
    if chosen.probes:
        pairs = [one for one in bare() if not chosen.only or one[0].id in chosen.only or one[0].probe[0] in chosen.only]
    else:
        pairs = _entries(chosen.entries or [Path("entries")], chosen.only)
    overlays = Overlays(chosen.envs)
    differ = unbuilt = 0
    for job in jobs(pairs):
        if chosen.list:
            print(f"{job}  expected {job.expected}{'' if overlays.ready(job.versions) else '  (to be made)'}")
            continue
        started = time.monotonic()
        try:
            found = over(job, overlays)
        except Unbuildable as problem:
            unbuilt += 1
            print(f"{job}\n  {problem}", file=sys.stderr)
            continue
        path = None
        if not chosen.no_record:
            folder = record.folder_for(job.entry.id, job.folder, chosen.record)
            path = record.write(found, job.probe, job.options, folder)
        result = Result(job, found, path)
        differ += not result.agrees
        mark = "  " if result.agrees else f"! expected {job.expected}: "
        shown = f"{found.verdict:<11} {found.seconds:5.1f} s {found.peak_mb:4d} MB ({time.monotonic() - started:.1f} s)"
        print(f"{mark}{shown}  {job}\n      {found.reason[:200]}", flush=True)
    return 1 if differ else 2 if unbuilt else 0


if __name__ == "__main__":
    raise SystemExit(main())
