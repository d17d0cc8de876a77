"""Which renderer shows a report."""

from __future__ import annotations

import json
import sys

from troubleshooter.report.model import Report


def render(report: Report, format: str, *, several: bool = False, first: bool = True) -> None:
    """Print the report on standard output: terminal, json (one object a line), markdown or html."""
    if format == "json":
        sys.stdout.write(json.dumps(report.to_dict(), ensure_ascii=False, allow_nan=False, default=str) + "\n")
    elif format == "markdown":
        from troubleshooter.report.markdown import markdown

        sys.stdout.write(markdown(report) + "\n")
    elif format == "html":
        from troubleshooter.report.html import html

        sys.stdout.write(html(report))
    else:
        from troubleshooter.report.terminal import show

        show(report, several=several, first=first)
