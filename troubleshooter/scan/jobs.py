"""Turn paths into jobs. A job is one run with all its files; `scan.runs` decides which files belong to it."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from troubleshooter.read.folder import LogFile, Skip, log_files, regular_file
from troubleshooter.scan.places.names import is_elsewhere
from troubleshooter.scan.runs import group

if TYPE_CHECKING:
    from troubleshooter.scan.places.opening import LogPlaces


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """One run: its name (the path that its files share) and its files."""

    name: str
    files: tuple[str, ...]
    stamp: str
    """Size and time of every file. A job whose stamp changed is diagnosed again."""
    modified: float
    """When the newest file was changed, in seconds since 1970."""
    size_bytes: int = 0
    """The size of all files together, as they are stored (a compressed one counts what it takes on disk)."""


class Skipped(NamedTuple):
    """A path that was left out, and the reason: it does not exist, cannot be read or is not a regular file."""

    path: str
    reason: str


class FoundJobs(NamedTuple):
    """The jobs in the order of their names, and the paths that were left out."""

    jobs: list[Job]
    skipped: list[Skipped]


def find(paths: Iterable[str], places: LogPlaces | None = None) -> FoundJobs:
    """Find the jobs in files, folders and glob patterns, and with ``places`` in URLs and archives. Files that appear, vanish
    or change meanwhile raise no error.

    Raises `UsageError` for a URL with an unknown scheme, and `MissingPackage` if the package for the URL is not installed.
    """
    skipped: list[Skipped] = []

    def skip(path: str, reason: str) -> None:
        skipped.append(Skipped(path, reason))

    files: dict[str, tuple[str, float, int]] = {}  # stamp, time and size
    local: list[LogFile] = []
    for path in paths:
        if places is not None and is_elsewhere(path):
            files.update((found.path, found[1:]) for found in places.listing(path, skip))
        else:
            local += _below(path.removeprefix("file://"), skip)
    for path, status in _without_second_names(local):
        files[path] = f"{status.st_size}:{status.st_mtime_ns}", status.st_mtime, status.st_size
    runs = group(sorted(files))
    for path in runs.unclaimed:
        skip(path, "crash facts of an unknown run: several runs have logs beside this file")
    jobs = []
    for name, members in runs.members.items():
        stamp = ";".join(files[path][0] for path in members)
        modified = max(files[path][1] for path in members)
        jobs.append(Job(name, tuple(members), stamp, modified, sum(files[path][2] for path in members)))
    return FoundJobs(sorted(jobs), skipped)


def _without_second_names(found: Iterable[LogFile]) -> Iterator[LogFile]:
    """The files without second names: a link such as latest.log -> job-17.log must not count its file twice."""
    links: list[LogFile] = []
    known: set[tuple[int, int]] = set()
    for file in found:
        if os.path.islink(file.path):
            links.append(file)
        else:
            known.add((file.status.st_dev, file.status.st_ino))
            yield file
    for link in links:
        if (link.status.st_dev, link.status.st_ino) not in known:
            known.add((link.status.st_dev, link.status.st_ino))
            yield link


def _below(path: str, skip: Skip) -> Iterator[LogFile]:
    """The files for one path or glob pattern of the command line."""
    names = [path] if os.path.lexists(path) else sorted(glob.glob(path, recursive=True))
    if not names:
        skip(path, "no such file or folder")
    for name in names:
        if os.path.isdir(name):
            yield from log_files(name, skip)
        elif (found := regular_file(name, skip)) is not None:
            yield found
