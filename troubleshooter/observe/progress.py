"""Decides whether the run went on. A failure that the run survived was a warning, or was retried or skipped."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from kb import lazy
from troubleshooter.observe.model import Failure
from troubleshooter.read.line import Line

RECORDS_AFTER_WARNING = 1
RECORDS_AFTER_EXCEPTION = 2
RECORDS_AFTER_CRASH = 10
"""The run went on if at least this many records of metrics follow: below a printed warning, below an exception, and
below an exception that ended its process. A few records prove nothing after a crash: other ranks print them before they
notice, and people quote the log below the error."""

_OF_INSTALLER = lazy.compile(
    r"\s*(?:(?:ERROR|WARNING|warning|note):\s|error:\s(?:subprocess|metadata|legacy|externally|command|failed|could not)|Failed\b)"
)
"""Lines that an installer prints before it tries another release, or another way to build one."""


class RunProgress:
    """The signs in one file that the run was at work, as line numbers."""

    __slots__ = ("installed", "steps", "well")

    def __init__(self) -> None:
        self.well = 0
        """The last line that says that something ended well."""
        self.installed = 0
        """The last line that says that packages were installed."""
        self.steps = deque([0] * RECORDS_AFTER_CRASH, maxlen=RECORDS_AFTER_CRASH)
        """The last lines with metrics, the earliest first."""

    def continued_after(self, line: Line, records: int) -> bool:
        """Whether, below this line, something ended well or this many records of metrics were printed."""
        return line.number < max(self.well, self.steps[-records])


def run_continued_after(progress: Mapping[int, RunProgress], line: Line) -> bool:
    """Whether the run went on after this line. ``progress`` is by file."""
    own = progress.get(line.file)
    return own is not None and (
        own.continued_after(line, RECORDS_AFTER_WARNING)
        or (line.number < own.installed and _OF_INSTALLER.match(line.text) is not None)
    )


def run_survived(progress: Mapping[int, RunProgress], failure: Failure) -> bool:
    """Whether the run went on after this exception, or another run was begun after a crash. ``progress`` is by file."""
    line = failure.last or failure.line
    own = progress.get(line.file)
    records = RECORDS_AFTER_CRASH if failure.uncaught else RECORDS_AFTER_EXCEPTION
    return own is not None and own.continued_after(line, records)
