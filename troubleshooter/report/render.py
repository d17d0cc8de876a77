"""Which renderer shows a report."""

from __future__ import annotations

import json
import sys

from troubleshooter.report.fill import UNSAFE
from troubleshooter.report.model import Report


def as_json(report: Report) -> str:
    """The report as one line of JSON; characters that act on a terminal are written as escapes."""
    text = json.dumps(report.to_dict(), ensure_ascii=False, allow_nan=False, default=str)
    return text if text.isprintable() else UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def render(report: Report, format: str, *, several: bool = False, first: bool = True) -> None:
    """Print the report on standard output: terminal, json (one object a line), markdown or html."""
    if format == "json":
        sys.stdout.write(as_json(report) + "\n")
    elif format == "markdown":
        from troubleshooter.report.markdown import markdown

        sys.stdout.write(markdown(report) + "\n")
    elif format == "html":
        from troubleshooter.report.html import html

        sys.stdout.write(html(report))
    else:
        from troubleshooter.report.terminal import show

        show(report, several=several, first=first)
