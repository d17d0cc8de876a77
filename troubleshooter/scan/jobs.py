"""Paths → jobs: a run's files (ranks, streams) belong together; everything else is a job of its own."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from troubleshooter.read.sources import LOG_SKIPPED

# What tells the files of one run apart: torchrun's attempt and rank folders, rank or task numbers, out and err.
_RUN = (
    (re.compile(r"/attempt_\d+/\d+/(?:std(?:out|err)\.log|error\.json)$"), ""),
    (re.compile(r"(?:(?<=[/_.\-])|^)(?:rank|task|proc|local_rank)[_\-]?\d{1,5}(?=[/_.\-]|$)"), "rank"),
    (re.compile(r"(slurm-\d+)[_.\-]\d{1,5}(\.\w+)$"), r"\1\2"),
    (re.compile(r"\.(?:out|err)$"), ".log"),
)
_MAY_BE_RUN = re.compile(r"attempt_|rank|task|proc|slurm-|\.out$|\.err$")  # in every path that one of them changes


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """One run: its name (the path that its files share), and its files with size and time, which tell a change."""

    name: str
    files: tuple[str, ...]
    stamp: str
    modified: float


def find(paths: Iterable[str]) -> tuple[list[Job], list[str]]:
    """The jobs below files, folders and patterns, by name; and what could not be found."""
    groups: dict[str, list[tuple[str, os.stat_result]]] = {}
    missing: list[str] = []
    for path in paths:
        names = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        if not names:
            missing.append(path)
        for name in names:
            for file in _files(name):
                try:
                    groups.setdefault(_run_of(file), []).append((file, os.stat(file)))
                except OSError:
                    missing.append(file)
    jobs = []
    for name, members in groups.items():
        members.sort(key=lambda m: m[0])
        stamp = ";".join(f"{stat.st_size}:{stat.st_mtime_ns}" for _, stat in members)
        jobs.append(Job(name, tuple(f for f, _ in members), stamp, max(stat.st_mtime for _, stat in members)))
    return sorted(jobs), missing


def _files(name: str) -> Iterator[str]:
    if not os.path.isdir(name):
        yield name
        return
    for folder, below, files in os.walk(name):
        below[:] = sorted(b for b in below if not b.startswith("."))
        for file in sorted(files):
            if (
                not file.startswith(".")
                and os.path.splitext(file)[1].lower() not in LOG_SKIPPED
                and not file.endswith(".jsonl")
            ):
                yield os.path.join(folder, file)


def _run_of(path: str) -> str:
    name = path.replace("\\", "/")
    if _MAY_BE_RUN.search(name) is None:
        return name
    for pattern, instead in _RUN:
        name = pattern.sub(instead, name)
    return name
