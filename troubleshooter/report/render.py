"""Which renderer shows a report."""

from __future__ import annotations

import sys

from troubleshooter.report.jsontext import as_json
from troubleshooter.report.model import Report


def render(report: Report, format: str, *, several: bool = False, first: bool = True) -> None:
    """Print the report on standard output: terminal, brief (three lines), json (one object a line), markdown or html."""
    if format == "json":
        sys.stdout.write(as_json(report.to_dict()) + "\n")
    elif format == "brief":
        from troubleshooter.report.brief import show as show_brief

        show_brief(report, several=several)
    elif format == "markdown":
        from troubleshooter.report.markdown import markdown

        sys.stdout.write(markdown(report) + "\n")
    elif format == "html":
        from troubleshooter.report.html import html

        sys.stdout.write(html(report))
    else:
        from troubleshooter.report.terminal import show

        show(report, several=several, first=first)
