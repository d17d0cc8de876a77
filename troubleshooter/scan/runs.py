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
from collections.abc import Callable, Sequence

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


def run_of(path: str) -> str:
    """The name of the run that a log belongs to: the path that all its files share."""
    name = path.replace("\\", "/") if "://" not in path else path
    if _MAY_CHANGE.search(name) is None:
        return name
    for pattern, instead in _WITHOUT:
        name = pattern.sub(instead, name)
    return name


def run_of_facts(path: str, has_log: Callable[[str], bool], runs_in: Callable[[str], Sequence[str]]) -> str | None:
    """The run that crash facts belong to; None if nothing tells. ``has_log`` says whether a path is a log that was found,
    ``runs_in`` which runs have a log in a folder (two of them are enough)."""
    folder = folder_of(path)
    above, _, last = folder.rpartition("/")
    name, log = _OF_A_SUPERVISED_RUN
    if last == name and has_log(output := f"{above}/{log}" if above else log):
        return run_of(output)
    found = runs_in(folder) or runs_in(above) or [folder or "."]
    return found[0] if len(found) == 1 else None


def folder_of(path: str) -> str:
    """A path's folder, "" for none."""
    return path.replace("\\", "/").rpartition("/")[0]
