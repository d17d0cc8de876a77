"""What makes two failures the same one: the exception and its message, or the exception and the place that raised it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from rapidfuzz import fuzz

from kb import lazy
from troubleshooter.masking import mask_run
from troubleshooter.observe.model import Failure
from troubleshooter.paths import installed_file
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text
from troubleshooter.verify.overlays import canonical

__all__ = ["RunFailure", "failure_in", "packages_in", "same"]

SIMILAR: Final = 60.0
"""Least likeness (0 to 100) of two messages that the same function raised: releases reword messages."""


_MODULE = lazy.compile(r"'([A-Za-z_]\w{0,60})[.\w]{0,200}'")
"""A module that an import error names."""


_GUESS = lazy.compile(r"\. Did you mean: '[^']{1,200}'\?$")
"""What the interpreter adds to a message; it depends on which other names a release has."""


LEAST_BEGIN: Final = 20
"""Least characters of a message that another release went on with: the one then begins with the other."""


class RunFailure(NamedTuple):
    """The failure that ended a run. ``place`` is file and function that raised it, "" where no frame is shown."""

    exception: str
    message: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.exception}: {self.message}" if self.message else self.exception


def failure_in(text: str, tool: Diagnoser) -> RunFailure | None:
    """The exception that ended the run whose output this is; None where it shows none."""
    failure = _ended_by(text, tool)
    if failure is None:
        return None
    place = ""
    if failure.frames:
        frame = failure.frames[-1]
        place = f"{'/'.join(frame.file.split('/')[-2:])}:{frame.function}"
    return RunFailure(failure.exception.rpartition(".")[2], " ".join(failure.message.split())[:400], place)


def packages_in(text: str, tool: Diagnoser, installed: Collection[str]) -> list[str]:
    """Which installed packages the failure of an output concerns, the likeliest first: its frames from the innermost out,
    then the modules that its message names."""
    failure = _ended_by(text, tool)
    if failure is None:
        return []
    found = [file.package for frame in failure.frames[::-1] if (file := installed_file(frame.path))]
    found += _MODULE.findall(failure.message)
    names = [canonical(name) for name in found]
    return [name for name in dict.fromkeys(names) if name in installed]


def _ended_by(text: str, tool: Diagnoser) -> Failure | None:
    failures = tool.observe([from_text(text)]).failures
    initiating = [failure for failure in failures if failure.role == "initiating"]
    uncaught = [failure for failure in initiating if failure.uncaught]
    return next(reversed(uncaught or initiating or failures), None)


def same(one: RunFailure, other: RunFailure) -> bool:
    """Whether two runs failed alike: paths, numbers and ids of one run do not count."""
    if one.exception != other.exception:
        return False
    messages = mask_run(_GUESS.sub("", one.message)), mask_run(_GUESS.sub("", other.message))
    shorter, longer = sorted(messages, key=len)
    if shorter == longer or (len(shorter) >= LEAST_BEGIN and longer.startswith(shorter)):
        return True
    return bool(one.place) and one.place == other.place and fuzz.ratio(*messages) >= SIMILAR
