"""Turn paths into jobs. A job is one run with all its files; `scan.runs` decides which files belong to it, `scan.job_list` holds them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from troubleshooter.read.folder import LogFile, Skip, log_files, regular_file
from troubleshooter.scan.job_list import FoundFile, JobList
from troubleshooter.scan.places.names import is_elsewhere

if TYPE_CHECKING:
    from troubleshooter.scan.places.opening import LogPlaces


class Skipped(NamedTuple):
    """A path that was left out, and the reason: it does not exist, cannot be read or is not a regular file."""

    path: str
    reason: str


class FoundJobs(NamedTuple):
    """The jobs in the order of their names, and the paths that were left out."""

    jobs: JobList
    skipped: list[Skipped]


def find(paths: Iterable[str], places: LogPlaces | None = None) -> FoundJobs:
    """Find the jobs in files, folders and glob patterns, and with ``places`` in URLs and archives. Files that appear, vanish
    or change meanwhile raise no error.

    Raises `UsageError` for a URL with an unknown scheme, `MissingPackage` if the package for the URL is not installed, and
    `NoRoom` where a long list does not fit into the temporary folder.
    """
    skipped: list[Skipped] = []
    found = JobList()
    links: list[FoundFile] = []

    def skip(path: str, reason: str) -> None:
        skipped.append(Skipped(path, reason))

    for path in paths:
        if places is not None and is_elsewhere(path):
            found.add(FoundFile(*listed) for listed in places.listing(path, skip))
        else:
            found.add(_without_links(_below(path.removeprefix("file://"), skip), links))
    if links:  # a link such as latest.log -> job-17.log must not count its file twice
        found.find_names()
        found.add(link for link in links if not found.holds(link.identity or ""))
    found.claim_facts(lambda path: skip(path, "crash facts of an unknown run: several runs have logs beside this file"))
    return FoundJobs(found, skipped)


def _without_links(files: Iterable[LogFile], links: list[FoundFile]) -> Iterator[FoundFile]:
    """The files; those that are links go to ``links`` instead."""
    for path, status in files:
        stamp = f"{status.st_size}:{status.st_mtime_ns}"
        file = FoundFile(path, stamp, status.st_mtime, status.st_size, f"{status.st_dev}:{status.st_ino}")
        if os.path.islink(path):
            links.append(file)
        else:
            yield file


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
