"""Asks the index of packages which Pythons can install what the fixes ask for: ``python -m troubleshooter.proof.installable``.

A row of ``tests/knowledge/installable.tsv`` is one requirement (``transformers>=5.22``) with the Pythons for which some release
that meets it has a wheel, or a source archive. pip takes an older release without a word, or finds none, where the newest ones
need a newer Python; so a fix whose requirement some of `COMMON` cannot install has to name its Python. Only packages with a
requirement that has no row are asked; ``--again`` asks for all. Exit status: 1 where a fix keeps silent about its Python.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.tags import Tag
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from kb import lazy
from kb.form import EntryFix
from kb.load import Library, load
from kb.placeholders import HOLE
from kb.proof.parsing import requirements

ROOT = Path(__file__).parent.parent.parent
KEPT = ROOT / "tests" / "knowledge" / "installable.tsv"
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
COMMON = frozenset({"3.10", "3.11", "3.12"})
"""The Pythons of most machines that fine-tune today: a fix that all of them can install needs no word about its Python."""
_LAST_PATCH = 99
"""Stands for the last patch release of a Python, which a bound such as ``<3.12.4`` may leave out."""
_HEAD = "requirement\tPythons"
_NAMES_PYTHON = lazy.compile(r"(?i)\bpython ?=?=?3\.\d|\bpython3\.\d|\bpython (?:it supports|of that time)")
_OTHER_INDEX = lazy.compile(r"--(?:extra-)?index-url|--find-links|(?<!\S)-[fi]\s|://")
"""The command takes its archives elsewhere, so that the index of packages cannot answer for them."""


class Wish(NamedTuple):
    """One line of a fix that installs packages: the entry's id, the fix's number from 1, what is asked for, and the fix's words."""

    entry: str
    fix: int
    asked: tuple[str, ...]
    said: str
    elsewhere: bool


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


def offered(package: str) -> dict[str, frozenset[Version]]:
    """By Python, the releases that can be installed there. Empty where the index does not know the package."""
    from pip._internal.models.index import PyPI
    from pip._internal.network.session import PipSession

    answer = PipSession(retries=3).get(
        f"{PyPI.simple_url}/{package}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}
    )
    if answer.status_code == 404:
        return {}
    answer.raise_for_status()
    return releases(answer.json()["files"])


def releases(files: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[Version]]:
    """By Python, the releases among the files that an index lists: ``filename``, ``requires-python`` and ``yanked`` of each."""
    found: dict[str, set[Version]] = {python: set() for python in PYTHONS}
    for file in files:
        if not file.get("yanked") and (archive := _archive(file["filename"])) is not None:
            for python in PYTHONS:
                if _fits(python, file.get("requires-python") or "", archive.tags):
                    found[python].add(archive.version)
    return {python: frozenset(versions) for python, versions in found.items()}


class _Archive(NamedTuple):
    version: Version
    tags: frozenset[Tag] | None  # None: a source archive


def _archive(filename: str) -> _Archive | None:
    try:
        if filename.endswith(".whl"):
            _, version, _, tags = parse_wheel_filename(filename)
            return _Archive(version, tags)
        return _Archive(parse_sdist_filename(filename)[1], None)
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


def _fits(python: str, bound: str, tags: frozenset[Tag] | None) -> bool:
    try:
        allowed = SpecifierSet(bound).contains(f"{python}.{_LAST_PATCH}")
    except InvalidSpecifier:
        allowed = True
    return allowed and (tags is None or any(_runs(tag, int(python.split(".")[1])) for tag in tags))


def _runs(tag: Tag, minor: int) -> bool:
    """Whether Python 3.``minor`` takes a wheel of the tag, on some system."""
    named = re.fullmatch(r"(cp|py)3(\d*)", tag.interpreter)
    if named is None:
        return False
    of = int(named[2] or 0)
    return of <= minor if named[1] == "py" or tag.abi == "abi3" or not named[2] else of == minor


def pythons(asked: str, there: Mapping[str, frozenset[Version]]) -> tuple[str, ...]:
    """The Pythons for which some release meets the requirement."""
    meets = Requirement(asked).specifier
    return tuple(
        python for python, versions in there.items() if any(meets.contains(v, prereleases=True) for v in versions)
    )


def kept_answers(path: Path = KEPT) -> dict[str, tuple[str, ...]]:
    """The kept Pythons by requirement; none where there is no such file yet."""
    rows = path.read_text(encoding="utf-8").splitlines()[1:] if path.is_file() else []
    return {asked: tuple(found.split()) for asked, found in (row.split("\t") for row in rows)}


def write(found: Mapping[str, tuple[str, ...]], path: Path = KEPT) -> None:
    """Keep answers: a row a requirement, sorted."""
    rows = [f"{asked}\t{' '.join(found[asked])}" for asked in sorted(found)]
    path.write_text("\n".join([_HEAD, *rows]) + "\n", encoding="utf-8")


def problems(asked: Iterable[Wish], found: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Fixes whose requirements some common Python, or every Python, cannot install, while they do not say so."""
    for wish in asked:
        if wish.elsewhere or _NAMES_PYTHON.search(wish.said):
            continue
        together = [python for python in PYTHONS if all(python in found[one] for one in wish.asked)]
        if COMMON - set(together):
            where = f"only Python {', '.join(together)} can" if together else "no Python can"
            yield f"{wish.entry}, fix {wish.fix}: {where} install {' '.join(wish.asked)}: say so beside the command"


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
    known |= {asked: pythons(asked, there[canonicalize_name(Requirement(asked).name)]) for asked in missing}
    write({asked: known[asked] for wish in every for asked in wish.asked})
    faults = list(dict.fromkeys(problems(every, known)))
    print("\n".join([*faults, f"{len(every)} installing lines, {len(faults)} problems"]))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
