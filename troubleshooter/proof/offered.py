"""What the index of packages offers of a package: releases by Python, and the extras of a release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
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

from kb.index.make import archives

PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
_LAST_PATCH = 99
"""Stands for the last patch release of a Python, which a bound such as ``<3.12.4`` may leave out."""


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
    """By Python, the releases among the files that an index lists: ``filename``, ``requires-python`` and ``yanked`` of each.

    Wheels for Linux on x86-64 count, where most fine-tuning runs; those for other systems only where a package has no others.
    """
    found: dict[str, set[Version]] = {python: set() for python in PYTHONS}
    listed = list(files)
    usual = [file for file in listed if _is_usual(file["filename"])]
    for file in usual or listed:
        if not file.get("yanked") and (archive := _archive(file["filename"])) is not None:
            for python in PYTHONS:
                if _fits(python, file.get("requires-python") or "", archive.tags):
                    found[python].add(archive.version)
    return {python: frozenset(versions) for python, versions in found.items()}


def _is_usual(filename: str) -> bool:
    system = filename.removesuffix(".whl").rpartition("-")[2] if filename.endswith(".whl") else "any"
    return system == "any" or ("linux" in system and "x86_64" in system)


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
    """Whether Python 3.``minor`` takes a wheel of the tag."""
    named = re.fullmatch(r"(cp|py)3(\d*)", tag.interpreter)
    if named is None:
        return False
    of = int(named[2] or 0)
    return of <= minor if named[1] == "py" or tag.abi == "abi3" or not named[2] else of == minor


def absent_extras(asked: str) -> tuple[str, ...]:
    """The extras of a requirement that the newest release with a wheel does not have; pip leaves them out with a warning.

    Raises `ReleaseUnreadable` where the package or its wheel cannot be had.
    """
    wanted = Requirement(asked)
    if not wanted.extras:
        return ()
    wheels = {Version(version): one for version, one in archives.offered(wanted.name).items() if one.wheel}
    fitting = [version for version in wheels if wanted.specifier.contains(version, prereleases=False)]
    if not fitting:
        return ()
    newest = wheels[max(fitting)]
    distribution, version = newest.url.rpartition("/")[2].split("-")[:2]
    [(_, metadata)] = archives.members(newest, [f"{distribution}-{version}.dist-info/METADATA"])
    there = {
        canonicalize_name(extra) for extra in re.findall(r"^Provides-Extra: (\S+)", metadata.decode(), re.MULTILINE)
    }
    return tuple(sorted(extra for extra in wanted.extras if canonicalize_name(extra) not in there))
