"""What an explanation says, for the tests of explanations."""

from __future__ import annotations

from troubleshooter.report.model import Report


def codes(report: Report) -> list[str | None]:
    """The code of each suggestion."""
    return [one["code"] for one in report.explained[0]["suggestions"]]
