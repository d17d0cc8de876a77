"""Asks the index of packages which Pythons can install what the fixes ask for: ``python -m troubleshooter.proof.installable``.

A row of ``tests/knowledge/installable.tsv`` is one requirement (``transformers>=5.22``) with the Pythons for which some release
that meets it has a wheel, or a source archive, and with the extras that the newest of these releases does not have: pip leaves
them out with a warning. pip takes an older release without a word, or finds none, where the newest ones
need a newer Python; so a fix whose requirement some of `COMMON` cannot install has to name its Python. Only packages with a
requirement that has no row are asked; ``--again`` asks for all. Exit status: 1 where a fix keeps silent about its Python.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from kb import lazy
from kb.form import EntryFix
from kb.load import Library, load
from kb.placeholders import HOLE
from kb.proof.parsing import requirements
from troubleshooter.proof.offered import PYTHONS, absent_extras, offered

ROOT = Path(__file__).parent.parent.parent
KEPT = ROOT / "tests" / "knowledge" / "installable.tsv"
COMMON = frozenset({"3.10", "3.11", "3.12"})
"""The Pythons of most machines that fine-tune today: a fix that all of them can install needs no word about its Python."""
_HEAD = "requirement\tPythons\tabsent extras"
_NAMES_PYTHON = lazy.compile(r"(?i)\bpython ?=?=?3\.\d|\bpython3\.\d|\bpython (?:it supports|of that time)")
_RANGE = lazy.compile(r"(?i)\bpython 3\.(?P<minor>\d+) or (?P<way>older|newer)")
_OTHER_INDEX = lazy.compile(r"--(?:extra-)?index-url|--find-links|(?<!\S)-[fi]\s|://")
"""The command takes its archives elsewhere, so that the index of packages cannot answer for them."""


class Wish(NamedTuple):
    """One line of a fix that installs packages: the entry's id, the fix's number from 1, what is asked for, and the fix's words.

    ``elsewhere``: whether the line names another place to take archives from than the index of packages.
    """

    entry: str
    fix: int
    asked: tuple[str, ...]
    said: str
    elsewhere: bool


class Installable(NamedTuple):
    """What the index of packages says of a requirement: the Pythons that can install it, and the extras that its newest release lacks."""

    pythons: tuple[str, ...]
    absent_extras: tuple[str, ...] = ()


def wishes(library: Library) -> Iterator[Wish]:
    """Each installing line of the fixes. Lines with placeholders are left out, as the log fills them."""
    for id_, loaded in sorted(library.entries.items()):
        for number, fix in enumerate(loaded.entry.fixes, 1):
            for line in (fix.shell or "").splitlines():
                asked = () if HOLE.search(line) else tuple(str(found) for found in requirements(line))
                if asked:
                    yield Wish(id_, number, asked, _said(fix), _OTHER_INDEX.search(line) is not None)


def _said(fix: EntryFix) -> str:
    return f"{fix.do}\n{fix.why or ''}\n{fix.shell or ''}"


def pythons(asked: str, there: Mapping[str, frozenset[Version]]) -> tuple[str, ...]:
    """The Pythons for which some release meets the requirement."""
    meets = Requirement(asked).specifier
    return tuple(
        python for python, versions in there.items() if any(meets.contains(v, prereleases=True) for v in versions)
    )


def kept_answers(path: Path = KEPT) -> dict[str, Installable]:
    """The kept answers by requirement; none where there is no such file yet."""
    rows = path.read_text(encoding="utf-8").splitlines()[1:] if path.is_file() else []
    cells = (row.split("\t") for row in rows)
    return {asked: Installable(tuple(found.split()), tuple(absent.split())) for asked, found, absent in cells}


def write(found: Mapping[str, Installable], path: Path = KEPT) -> None:
    """Keep answers: a row a requirement, sorted."""
    rows = ["\t".join([asked, *map(" ".join, found[asked])]) for asked in sorted(found)]
    path.write_text("\n".join([_HEAD, *rows]) + "\n", encoding="utf-8")


def problems(asked: Iterable[Wish], found: Mapping[str, Installable]) -> Iterator[str]:
    """Fixes that ask for an extra that is gone, or for what some common Python, or every Python, cannot install, while they do not say so."""
    for wish in asked:
        place = f"{wish.entry}, fix {wish.fix}"
        for one in wish.asked:
            if absent := found[one].absent_extras:
                yield f"{place}: the newest release that {one} allows has no extra {', '.join(absent)}"
        together = [python for python in PYTHONS if all(python in found[one].pythons for one in wish.asked)]
        if wish.elsewhere or not COMMON - set(together):
            continue
        ranges = [_range(said) for said in _RANGE.finditer(wish.said)]
        where = f"only Python {', '.join(together)} can" if together else "no Python can"
        if ranges and together not in ranges:
            yield f"{place}: {where} install {' '.join(wish.asked)}, and the fix names another range"
        elif not ranges and not _NAMES_PYTHON.search(wish.said):
            yield f"{place}: {where} install {' '.join(wish.asked)}: say so beside the command"


def _range(said: re.Match[str]) -> list[str]:
    """The Pythons of a range in words (``Python 3.11 or older``)."""
    minors = {python: int(python.partition(".")[2]) for python in PYTHONS}
    at = int(said["minor"])
    return [python for python, minor in minors.items() if (minor <= at if said["way"] == "older" else minor >= at)]


def main(arguments: list[str] | None = None) -> int:
    """Ask for what is not kept, keep it, and print the problems."""
    parser = argparse.ArgumentParser(
        prog="python -m troubleshooter.proof.installable", description=__doc__.split("\n", 1)[0]
    )
    parser.add_argument("--again", action="store_true", help="ask for everything anew")
    again = parser.parse_args(arguments).again
    every = list(wishes(load(ROOT / "entries")))
    known = {} if again else kept_answers()
    missing = sorted({asked for wish in every for asked in wish.asked} - known.keys())
    packages = {canonicalize_name(Requirement(asked).name) for asked in missing}
    if missing:
        print(f"asking for {len(missing)} requirements of {len(packages)} packages", file=sys.stderr)
    there = {package: offered(package) for package in sorted(packages)}
    known |= {
        asked: Installable(pythons(asked, there[canonicalize_name(Requirement(asked).name)]), absent_extras(asked))
        for asked in missing
    }
    write({asked: known[asked] for wish in every for asked in wish.asked})
    faults = list(dict.fromkeys(problems(every, known)))
    print("\n".join([*faults, f"{len(every)} installing lines, {len(faults)} problems"]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
