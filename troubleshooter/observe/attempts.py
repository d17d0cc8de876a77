"""Several attempts in one log: a crash is passed over where the program was started again, and crashed again, below it."""

from __future__ import annotations

from troubleshooter.observe.model import Failure
from troubleshooter.observe.observations import Observations
from troubleshooter.read.line import Line

_OF_LAUNCHERS = ("torchrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "srun", "torch.distributed", "ray ")
"""Programs that start several processes, whose crashes stand below one another in one attempt."""
_OF_SEVERAL = ("/distributed/", "/multiprocessing/", "/ray/", "/launch")
"""Folders of code that starts processes."""


def pass_over_earlier(observations: Observations) -> None:
    """Give the crashes of earlier attempts the role ``handled``.

    A process ends with one exception. So of two that Python printed for the same script the first is of an earlier attempt if the
    log shows a command or a record of metrics between them. Where a log shows several processes, nothing is passed over.
    """
    crashes = [one for one in observations.failures if one.role == "initiating" and one.uncaught]
    if len(crashes) < 2 or _shows_several_processes(observations):
        return
    later = _Ends()
    for crash in sorted(crashes, key=lambda one: -_end(one).number):
        if later.is_after(crash, observations):
            crash.role = "handled"
        later.add(crash)


class _Ends:
    """Where the last crash stands, in each file of the log and of each script in it."""

    def __init__(self) -> None:
        self._of_file: dict[int, int] = {}
        self._of_script: dict[tuple[int, str], int] = {}

    def add(self, crash: Failure) -> None:
        """Note a crash; those further down come first."""
        end = _end(crash)
        self._of_file.setdefault(end.file, end.number)
        self._of_script.setdefault((end.file, crash.frames[0].path), end.number)

    def is_after(self, crash: Failure, observations: Observations) -> bool:
        """Whether one of them ended a later attempt than this crash."""
        begin = _end(crash)
        last = self._of_file.get(begin.file, 0)
        if any(one.line.file == begin.file and begin.number < one.line.number < last for one in observations.commands):
            return True
        last = self._of_script.get((begin.file, crash.frames[0].path), 0)
        progress = observations.progress.get(begin.file)
        return progress is not None and any(begin.number < step < last for step in progress.steps)


def _end(crash: Failure) -> Line:
    """The line of the log where a crash stands, the last one if it stands there several times."""
    return crash.last or crash.line


def _shows_several_processes(observations: Observations) -> bool:
    return (
        any(one.ranks or one.role in ("cascade", "teardown") for one in observations.failures)
        or any(name in one.text for one in observations.commands for name in _OF_LAUNCHERS)
        or any(part in frame.path for one in observations.failures for frame in one.frames for part in _OF_SEVERAL)
    )
