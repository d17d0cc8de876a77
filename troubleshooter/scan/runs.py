"""Which files belong to one run. A folder of logs holds ranks, streams, restarts and crash facts; a scan counts runs.

The rule, in this order:

1. A path loses what tells the files of one run apart: torchrun's ``attempt_N/RANK/stdout.log``, the folder
   ``attempt-N`` of ``troubleshoot run --retry``, the number of a rank or task (``rank3``, ``task-1``, ``slurm-77-0.out``),
   the number of a restart (``train.restart2.log``), of a rotated log (``train.log.1``) and its compression
   (``train.log.gz``), and whether it is ``.out``, ``.err`` or ``.log``. Files whose paths are then equal are one run.
   The tasks of a Slurm array (``slurm-77_4.out``) are runs of their own.
2. Crash facts in a folder ``facts`` beside an ``output.log`` belong to that run of ``troubleshoot run``. Other crash facts
   belong to the only run of their folder, or of the folder above it.
3. Crash facts without any log in these two folders are a run of their own, named like their folder. Where there are
   several runs, nothing tells whose the facts are: they belong to none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from troubleshooter.read.folder import named_like_crash_facts
from troubleshooter.read.sources import FILES_OF_FACTS

_WITHOUT = (
    (re.compile(r"(\.(?:log|out|err|txt)(?:\.\d{1,3})?)\.(?:gz|xz|bz2|zst)$"), r"\1"),
    (re.compile(r"(\.(?:log|out|err|txt))\.\d{1,3}$"), r"\1"),
    (re.compile(r"/attempt_\d+/\d+/(?:std(?:out|err)\.log|error\.json)$"), ""),
    (re.compile(r"(?<=/)attempt-\d{1,4}/(?=output\.log$)"), ""),
    (re.compile(r"(?:(?<=[/_.\-])|^)(?:rank|task|proc|local_rank)[_\-]?\d{1,5}(?=[/_.\-]|$)"), "rank"),
    (re.compile(r"[_.\-](?:restart|retry|requeue|attempt)[_\-]?\d{1,4}(?=\.\w{1,9}$)"), ""),
    (re.compile(r"(slurm-\d+(?:_\d+)?)[.\-]\d{1,5}(\.\w+)$"), r"\1\2"),
    (re.compile(r"(slurm-\d+_\d+)_\d{1,5}(\.\w+)$"), r"\1\2"),
    (re.compile(r"\.(?:out|err)$"), ".log"),
)
_MAY_CHANGE = re.compile(r"attempt|rank|task|proc|re(?:start|try|queue)|slurm-|\.(?:out|err)$|\.(?:log|out|err|txt)\.")
"""In every path that one of them changes."""
_OF_A_SUPERVISED_RUN = ("facts", "output.log")


class Runs(NamedTuple):
    """Files by run, logs before crash facts, and the crash facts of nobody."""

    members: dict[str, list[str]]
    unclaimed: list[str]


def run_of(path: str) -> str:
    """The name of the run that a log belongs to: the path that all its files share."""
    name = path.replace("\\", "/") if "://" not in path else path
    if _MAY_CHANGE.search(name) is None:
        return name
    for pattern, instead in _WITHOUT:
        name = pattern.sub(instead, name)
    return name


def group(paths: Iterable[str]) -> Runs:
    """The runs that these files belong to, by the rule of this module. The order of runs and files is that of ``paths``."""
    members: dict[str, list[str]] = {}
    facts: list[str] = []
    for path in paths:
        if named_like_crash_facts(_split(path)[1]):
            facts.append(path)
        else:
            members.setdefault(run_of(path), []).append(path)
    unclaimed: list[str] = []
    if facts:
        below = _runs_by_folder(members)
        claimed: dict[str, list[str]] = {}
        for path in facts:
            folder = _split(path)[0]
            above = _split(folder)[0]
            run = _supervised(folder, above, members, below)
            if run is None:
                found = below.get(folder) or below.get(above) or [folder or "."]
                run = found[0] if len(found) == 1 else None
            if run is None:
                unclaimed.append(path)
            else:
                claimed.setdefault(run, []).append(path)
        for run, of_run in claimed.items():
            members.setdefault(run, []).extend(of_run[:FILES_OF_FACTS])
    return Runs(members, unclaimed)


def _supervised(folder: str, above: str, members: dict[str, list[str]], below: dict[str, list[str]]) -> str | None:
    """The run of `troubleshoot run` whose crash facts a folder holds."""
    name, log = _OF_A_SUPERVISED_RUN
    if _split(folder)[1] != name:
        return None
    path = f"{above}/{log}" if above else log
    run = run_of(path)
    return run if run in below.get(above, ()) and path in members[run] else None


def _runs_by_folder(members: dict[str, list[str]]) -> dict[str, list[str]]:
    """By folder: the runs that have a file in it."""
    found: dict[str, list[str]] = {}
    for run, files in members.items():
        for folder in dict.fromkeys(_split(file)[0] for file in files):
            found.setdefault(folder, []).append(run)
    return found


def _split(path: str) -> tuple[str, str]:
    """A path's folder ("" for none) and its last part."""
    folder, _, name = path.replace("\\", "/").rpartition("/")
    return folder, name
