"""Several attempts in one log: a crash is passed over where the program was started again, and crashed again, below it."""

from __future__ import annotations

from troubleshooter.observe.model import Failure
from troubleshooter.observe.observations import Observations

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
    for crash in crashes:
        crash.role = "handled" if any(_is_repeated_by(crash, other, observations) for other in crashes) else crash.role


def _shows_several_processes(observations: Observations) -> bool:
    return (
        any(one.ranks or one.role in ("cascade", "teardown") for one in observations.failures)
        or any(name in one.text for one in observations.commands for name in _OF_LAUNCHERS)
        or any(part in frame.path for one in observations.failures for frame in one.frames for part in _OF_SEVERAL)
    )


def _is_repeated_by(crash: Failure, other: Failure, observations: Observations) -> bool:
    """Whether the other crash ended a later attempt."""
    begin, end = crash.last or crash.line, other.last or other.start
    if other is crash or begin.file != end.file or begin.number >= end.number:
        return False
    if any(
        one.line.file == begin.file and begin.number < one.line.number < end.number for one in observations.commands
    ):
        return True
    progress = observations.progress.get(begin.file)
    is_same_script = crash.frames[0].path == other.frames[0].path
    steps = progress.steps if progress is not None else ()
    return is_same_script and any(begin.number < step < end.number for step in steps)
