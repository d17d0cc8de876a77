"""The ranges that entries claim, compared with what their probes say of the releases: ``kb/data/ranges.tsv``.

    python -m troubleshooter.bisect.ranges                 every claimed range with a probe that was not searched yet
    python -m troubleshooter.bisect.ranges --only ENTRY    this entry; its rows in the file are replaced
    python -m troubleshooter.bisect.ranges --again         those that were searched, too
    python -m troubleshooter.bisect.ranges --list          which entries claim a range, and what is known of it

Each range is searched as `troubleshoot bisect ENTRY` does it, and the releases on both sides of each end that the entry claims
are tried besides. A release that was not tried is taken to behave as its nearest tried neighbours do where those two agree.
Each row is written as soon as it is known, so an interrupted run goes on where it stopped. A claim that was changed since is
compared with the releases that were tried.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from kb import versions as ranges
from troubleshooter.bisect import hints
from troubleshooter.bisect.bisector import Finding, one_package
from troubleshooter.bisect.judges import ProbeJudge
from troubleshooter.bisect.layers import releases
from troubleshooter.bisect.trials import Judge, Judged, Trials, Versions
from troubleshooter.verify.entry import EntryLike, asked_probe
from troubleshooter.verify.overlays import IndexProblem, Overlays, default_folder

__all__ = ["FILE", "Elsewhere", "RangeRow", "claims", "compared", "kept", "known_already", "searched", "state", "write"]

FILE: Final = Path(__file__).resolve().parents[2] / "kb" / "data" / "ranges.tsv"
SECONDS: Final = 180.0

Agreement = Literal["agrees", "wrong", "open"]
"""``wrong``: a release that was tried contradicts the claim. ``open``: none does, but not both kinds of release were seen."""


class RangeRow(NamedTuple):
    """What is known of one claimed range. ``works`` and ``fails`` are the releases that were tried; ``edge`` is what the
    search found: the last release that works, the first that fails, the last that fails, the first that was repaired."""

    entry: str
    package: str
    claimed: str
    agreement: Agreement
    edge: str
    works: str
    fails: str
    untold: str
    beside: str
    date: str


def searched(
    entry: str, package: str, claimed: str, judge: Judge, offered: Sequence[str], fixed: Mapping[str, str], likely: Sequence[str],
    date: str,
) -> RangeRow:  # fmt: skip
    """Search a package's releases (oldest first) with the judge, and compare what it says with the claimed range."""
    trials = Trials(judge)
    known = hints.of_range(claimed, offered)
    inside = [version for version in offered if ranges.contains(claimed, version)]
    likely = [*likely, *inside[-1:], *inside[len(inside) // 2 :][:1], *inside[:1]]
    found = one_package(package, offered, trials, fixed=fixed, likely_bad=likely, hints=known)
    for release in known:
        at = offered.index(release)
        for beside in (offered[at - 1], release):
            trials.ask({package: beside, **fixed})
    told: dict[str, list[str]] = {"good": [], "bad": [], "skip": []}
    for tried in trials.tried.values():
        told[tried.outcome].append(tried.versions[package])
    agreement = _agreement(claimed, told["good"], told["bad"])
    works, fails, untold = (" ".join(sorted(told[one], key=offered.index)) for one in ("good", "bad", "skip"))
    return RangeRow(entry, package, claimed, agreement, _edge(found), works, fails, untold, _shown(fixed), date)


def _agreement(claimed: str, works: Sequence[str], fails: Sequence[str]) -> Agreement:
    wrong = any(ranges.contains(claimed, version) for version in works)
    wrong = wrong or any(not ranges.contains(claimed, version) for version in fails)
    return "wrong" if wrong else "agrees" if works and fails else "open"


def compared(row: RangeRow, claimed: str) -> RangeRow | None:
    """The row for a claim that was changed since, from the releases that were tried; None where those do not tell.

    They tell where both ends were found exactly: the releases on both sides of each were tried, so a claim that none of
    them contradicts ends there.
    """
    if ":" in row.edge:
        return None
    return row._replace(claimed=claimed, agreement=_agreement(claimed, row.works.split(), row.fails.split()))


def _edge(found: Finding) -> str:
    """The four releases in order, ``-`` for one that there is none of; a verdict other than ``found`` in front."""
    parts = [found.last_good, found.first_bad, found.last_bad, found.first_repaired]
    shown = " ".join(part or "-" for part in parts)
    return shown if found.verdict == "found" else f"{found.verdict}: {shown}"


def kept(file: Path = FILE) -> list[RangeRow]:
    """The rows of a file of ranges; none where there is no file."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [RangeRow(*line.split("\t")) for line in lines if line and not line.startswith("#")]  # type: ignore[arg-type]


def write(rows: Iterable[RangeRow], file: Path = FILE) -> None:
    """Put the rows into the file, in place of older ones of the same entry and package."""
    known = {(row.entry, row.package): row for row in [*kept(file), *rows]}
    head = "# made by python -m troubleshooter.bisect.ranges: " + " ".join(RangeRow._fields)
    lines = [head, *("\t".join(known[one]) for one in sorted(known))]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def claims(entries: Iterable[EntryLike]) -> Iterator[tuple[EntryLike, str, str]]:
    """Each range that an entry claims: the entry, the package, the range."""
    for entry in entries:
        for package, range_ in entry.versions.items():
            yield entry, package, range_


def judged(entry: EntryLike) -> bool:
    """Whether the entry has a probe that can judge releases; what a log would fill in has the probe's default."""
    return asked_probe(entry) is not None


def known_already(entry: str, package: str, claimed: str, file: Path) -> bool:
    """Whether the file tells about this claim; a row of an older claim is compared with it and written anew.

    A row that saw no release work, or none fail, because some gave no answer, tells nothing: it is searched again.
    """
    row = next((row for row in kept(file) if (row.entry, row.package) == (entry, package)), None)
    if row is not None and row.claimed != claimed and (row := compared(row, claimed)) is not None:
        write([row], file)
        print(
            f"{row.agreement:<7} {entry}: {package} {claimed}; compared with what was tried on {row.date}", flush=True
        )
    return row is not None and not (row.agreement == "open" and row.untold)


@dataclass
class Elsewhere:
    """A judge that asks again beside other versions of the other packages, where a release gives no answer beside the first.

    One release of transformers does not run beside every release of peft, old and new. ``used`` collects what was taken instead.
    """

    judge: Judge
    package: str
    others: Sequence[Mapping[str, str]]
    used: list[Mapping[str, str]] = field(default_factory=list)

    def __call__(self, versions: Versions) -> Judged:
        first = self.judge(versions)
        if first.outcome != "skip":
            return first
        for beside in self.others:
            said = self.judge({self.package: versions[self.package], **beside})
            if said.outcome != "skip":
                if beside not in self.used:
                    self.used.append(beside)
                return said
        return first


def _search(entry: EntryLike, package: str, claimed: str, overlays: Overlays) -> RangeRow:
    asked = asked_probe(entry)
    assert asked is not None
    judge = ProbeJudge(entry, asked[0], asked[1], overlays, SECONDS)
    failing = judge.failing_versions()
    fixed = _beside(package, failing)
    alone = len(entry.versions) == 1  # else the other packages decide, too
    others: list[Mapping[str, str]] = []
    for pair in judge.pairs() if alone else ():
        if (beside := _beside(package, pair)) not in (fixed, *others):
            others.append(beside)
    elsewhere = Elsewhere(judge, package, others)
    offered = releases(package, str(overlays.base()))
    likely = [failing[package]] if package in failing else []
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    row = searched(entry.id, package, claimed, elsewhere, offered, fixed, likely, today)
    return row._replace(beside=", else ".join([row.beside, *map(_shown, elsewhere.used)]))


def _beside(package: str, versions: Mapping[str, str]) -> dict[str, str]:
    return {name: version for name, version in versions.items() if name != package}


def _shown(versions: Mapping[str, str]) -> str:
    return " ".join(f"{name}=={version}" for name, version in versions.items())


_ONE_TORCH: Final = "one torch in the probes' environments"
_BUILT: Final = "compiled, or needs a GPU"
UNSEARCHABLE: Final = {
    "python": "a probe has one Python",
    "torch": _ONE_TORCH,
    **dict.fromkeys(("bitsandbytes", "deepspeed", "flash-attn", "megatron-core", "xformers"), _BUILT),
}
"""Packages whose releases the probes' environments cannot change, and why."""


UNSEARCHABLE_ENTRIES: Final = {
    "resume-rng-weights-only": "fails to 4.46.3 with the one torch that the probes have; its 4.51 needs torch before 2.6",
}
"""Entries whose range is right for several releases of a package that the probes' environments cannot change."""


def state(entry: EntryLike, package: str, claimed: str, row: RangeRow | None) -> str:
    """What is known of a claim, in a few words: what the search said, else why there was none."""
    if row and row.claimed == claimed:
        return f"{row.agreement} ({row.date})"
    if row:
        return f"searched as {row.claimed} ({row.date}); search it again"
    if package in UNSEARCHABLE or entry.id in UNSEARCHABLE_ENTRIES:
        return UNSEARCHABLE_ENTRIES.get(entry.id) or UNSEARCHABLE[package]
    return "not searched" if judged(entry) else "no probe"


def _listed(entries: Sequence[EntryLike], file: Path) -> None:
    known = {(row.entry, row.package): row for row in kept(file)}
    without = 0
    for entry, package, claimed in claims(entries):
        row = known.get((entry.id, package))
        without += row is None
        print(f"{state(entry, package, claimed, row):<24} {entry.id}: {package} {claimed}")
    total = len(list(claims(entries)))
    print(f"{total - without} of {total} claimed ranges were searched")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 when a claim is wrong, 2 when an entry cannot be searched."""
    from kb.load import load

    parser = argparse.ArgumentParser(
        prog="python -m troubleshooter.bisect.ranges", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--entries", type=Path, default=Path("entries"), help="folder of entries (default: entries)")
    parser.add_argument("--only", action="append", default=[], metavar="ENTRY", help="only this entry")
    parser.add_argument("--again", action="store_true", help="search claims that were searched before, too")
    parser.add_argument("--file", type=Path, default=FILE, help="the file to write (default: the kept one)")
    parser.add_argument("--list", action="store_true", help="search nothing; say what is known of each claim")
    chosen = parser.parse_args(arguments)
    entries = [one.entry for _, one in sorted(load(chosen.entries).usable().entries.items())]
    if chosen.list:
        _listed(entries, chosen.file)
        return 0
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="troubleshoot-ranges-") as folder:
        overlays = Overlays(default_folder(), places=Path(folder))
        for entry, package, claimed in claims(entries):
            if not judged(entry) or package in UNSEARCHABLE or (chosen.only and entry.id not in chosen.only):
                continue
            if entry.id in UNSEARCHABLE_ENTRIES and not chosen.only:
                continue
            if not (chosen.only or chosen.again) and known_already(entry.id, package, claimed, chosen.file):
                continue
            try:
                row = _search(entry, package, claimed, overlays)
            except IndexProblem as problem:
                print(f"{entry.id}: {problem}", file=sys.stderr)
                return 2
            write([row], chosen.file)
            wrong += row.agreement == "wrong"
            print(f"{row.agreement:<7} {row.entry}: {package} {claimed}; found {row.edge}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
