"""The report as a notebook's cell shows it: one piece of HTML with its own styles, no script, nothing from elsewhere."""

from __future__ import annotations

from troubleshooter.report.html import TEMPLATES, View, heading, words
from troubleshooter.report.model import Report
from troubleshooter.report.sparkline import sparklines


def notebook(report: Report) -> str:
    """HTML for the middle of another page: all styles apply inside of it only, and its colours follow that page's."""
    from kb.pages.render import environment

    curves = sparklines(report) if report.exit_code == 1 else []
    page = environment(TEMPLATES).get_template("notebook.html")
    return page.render(
        view=View.of(report), lang=report.lang, words=words(report.lang), heading=heading(report), curves=curves
    )
