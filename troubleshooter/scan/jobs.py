"""Turn paths into jobs. The files of one run (its ranks, its ``.out`` and ``.err``) are one job; any other file is its own."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from troubleshooter.read.folder import LogFile, Skip, log_files, regular_file

# Parts of a path in which the files of one run differ: torchrun's attempt and rank folders, rank or task numbers, out
# and err. Paths that are equal after these replacements are files of the same run.
_RUN = (
    (re.compile(r"/attempt_\d+/\d+/(?:std(?:out|err)\.log|error\.json)$"), ""),
    (re.compile(r"(?:(?<=[/_.\-])|^)(?:rank|task|proc|local_rank)[_\-]?\d{1,5}(?=[/_.\-]|$)"), "rank"),
    (re.compile(r"(slurm-\d+)[_.\-]\d{1,5}(\.\w+)$"), r"\1\2"),
    (re.compile(r"\.(?:out|err)$"), ".log"),
)
_MAY_BE_RUN = re.compile(
    r"attempt_|rank|task|proc|slurm-|\.out$|\.err$"
)  # cheap test: no pattern of _RUN matches without it


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """One run: its name (the path that its files share) and its files."""

    name: str
    files: tuple[str, ...]
    stamp: str
    """Size and time of every file. A job whose stamp changed is diagnosed again."""
    modified: float
    """When the newest file was changed, in seconds since 1970."""


class Skipped(NamedTuple):
    """A path that was left out, and the reason: it does not exist, cannot be read or is not a regular file."""

    path: str
    reason: str


class FoundJobs(NamedTuple):
    """The jobs in the order of their names, and the paths that were left out."""

    jobs: list[Job]
    skipped: list[Skipped]


def find(paths: Iterable[str]) -> FoundJobs:
    """Find the jobs in files, folders and glob patterns. Files that appear, vanish or change meanwhile raise no error."""
    skipped: list[Skipped] = []

    def skip(path: str, reason: str) -> None:
        skipped.append(Skipped(path, reason))

    files: dict[str, os.stat_result] = {}
    links: list[LogFile] = []
    for path in paths:
        for file in _below(path, skip):
            if os.path.islink(file.path):
                links.append(file)
            else:
                files[file.path] = file.status
    known = {(status.st_dev, status.st_ino) for status in files.values()}
    for link in links:  # a link such as latest.log -> job-17.log must not count its file twice
        if (link.status.st_dev, link.status.st_ino) not in known:
            known.add((link.status.st_dev, link.status.st_ino))
            files[link.path] = link.status
    runs: dict[str, list[str]] = {}
    for path in sorted(files):
        runs.setdefault(_run_of(path), []).append(path)
    jobs = []
    for name, members in runs.items():
        stamp = ";".join(f"{files[path].st_size}:{files[path].st_mtime_ns}" for path in members)
        jobs.append(Job(name, tuple(members), stamp, max(files[path].st_mtime for path in members)))
    return FoundJobs(sorted(jobs), skipped)


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


def _run_of(path: str) -> str:
    name = path.replace("\\", "/")
    if _MAY_BE_RUN.search(name) is None:
        return name
    for pattern, instead in _RUN:
        name = pattern.sub(instead, name)
    return name
