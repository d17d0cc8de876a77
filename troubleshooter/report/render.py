"""The formats of a report. To add one, write its module and name it in `FORMATS`: the option ``--format`` offers it then."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from troubleshooter.report.model import Report

FORMATS = {
    "terminal": "troubleshooter.report.terminal",
    "brief": "troubleshooter.report.brief",
    "line": "troubleshooter.report.line",
    "json": "troubleshooter.report.jsontext",
    "markdown": "troubleshooter.report.markdown",
    "html": "troubleshooter.report.html",
}
"""By format: a module with a function ``show(report, *, several, first)``, which prints the report on standard output.

``several``: the report is one of several, so it has to name its file. ``first``: it is the first of them.
"""
FOR_READERS = frozenset({"terminal", "brief"})
"""Formats for a person. With these the log that is piped in is passed through, and the report follows it."""


def render(report: Report, format: str, *, several: bool = False, first: bool = True) -> None:
    """Print the report on standard output in one of `FORMATS`."""
    import_module(FORMATS[format]).show(report, several=several, first=first)
