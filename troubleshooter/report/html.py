"""The report as one HTML file that can be sent to a colleague: no script, no request, charts drawn in place."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from kb.pages.render import STATIC, environment
from troubleshooter.report.charts import Chart, charts, timeline
from troubleshooter.report.crash import lines as values
from troubleshooter.report.explanation import (
    changes_heading,
    comes_first,
    dependencies,
    releases_by_messages,
    sentences,
)
from troubleshooter.report.explanation import say as told_say
from troubleshooter.report.fill import safe
from troubleshooter.report.model import Report
from troubleshooter.report.stopped import advice, headline, lines
from troubleshooter.report.way import steps
from troubleshooter.report.words import first_rank, health, is_well, say

TEMPLATES = Path(__file__).with_name("templates")


class View(NamedTuple):
    """A report as the templates need it: plain data whose texts went through `safe`, and finished charts."""

    report: dict[str, Any]
    charts: list[Chart]
    timeline: Chart | None
    way: list[str]
    stopped: dict[str, Any] | None
    """A run that was stopped: its ``head``, the ``lines`` below, what to ``do``."""
    first: str
    names: str
    many: bool
    heading: str
    """The report in one line."""
    health: str
    """The sentence for a report without a failure."""
    values: list[str]
    """The values of variables at the failure, in lines."""
    explained: dict[str, Any] | None = None
    """The explanation from the code that raised the failure: ``head``, ``sentences``, what it ``depends`` on, ``changes``."""

    dated: Sequence[str] = ()
    """Sentences about the releases that the log's messages fit."""

    @classmethod
    def of(cls, report: Report) -> View:
        return cls(
            report=_harmless(report.to_dict() | {"metrics": {}}),
            charts=charts(report),
            timeline=timeline(report),
            way=[safe(step) for step in steps(report.unexplained["way"] if report.unexplained else [], report.lang)],
            stopped=_stopped(report),
            first=_first(report),
            names=safe(", ".join(report.input["files"][:3]), 120),
            many=len(report.input["files"]) > 1,
            heading=heading(report),
            health=health(report),
            values=values(report),
            explained=_explained(report),
            dated=[safe(one) for one in releases_by_messages(report)],
        )


def show(report: Report, *, several: bool = False, first: bool = True) -> None:
    """Print `html`."""
    sys.stdout.write(html(report) + "\n")


def html(report: Report) -> str:
    """The whole file."""
    from troubleshooter import __version__

    css = (STATIC / "style.css").read_text(encoding="utf-8").replace("</", "<\\/")
    view = View.of(report)
    page = _jinja().get_template("report.html")
    return page.render(
        view=view, lang=report.lang, words=words(report.lang), css=Markup(css), version=__version__,
        heading=heading(report),
    )  # fmt: skip


def heading(report: Report) -> str:
    """The report in one line."""
    if report.diagnoses:
        return report.diagnoses[0].title
    if report.unexplained is None and report.stopped is not None:
        return headline(report.stopped, report.lang)
    if report.unexplained is not None:
        return told_say("explained", report.lang) if report.explained else say("unknown", report.lang)
    return say("nothing" if is_well(report) else "nothing-read", report.lang)


def words(lang: str) -> Any:
    """The report's phrases in a language, as the templates call them."""
    return partial(say, lang=lang)


@lru_cache(maxsize=1)
def _jinja() -> Environment:
    made = environment(TEMPLATES)
    made.filters["figure"] = figure
    return made


def figure(svg: Markup) -> Markup:
    """A drawing on its own in the page's chart style."""
    return Markup('<figure class="chart">{}</figure>').format(svg)


def _first(report: Report) -> str:
    first = report.first_failure
    return "" if first is None or first["rank"] is None else first_rank(first, report.lang)


def _explained(report: Report) -> dict[str, Any] | None:
    if not report.explained:
        return None
    found, lang = report.explained[0], report.lang
    told: dict[str, Any] = _harmless(
        {
            "head": told_say("second-view" if report.diagnoses else "explained", lang),
            "sentences": sentences(found, lang),
            "depends-head": told_say("depends", lang),
            "depends": dependencies(found, lang),
            "changes-head": changes_heading(found, lang),
            "changes": found["suggestions"],
            "first": comes_first(report),
        }
    )
    return told


def _stopped(report: Report) -> dict[str, Any] | None:
    told = report.stopped
    if told is None:
        return None
    do = advice(told, report.lang) if report.exit_code != 1 else []
    return {"head": headline(told, report.lang), "lines": [safe(one) for one in lines(told, report.lang)], "do": do}


def _harmless(value: Any) -> Any:
    """Remove control and bidirectional characters from every text of the report. Line breaks stay."""
    if isinstance(value, str):
        return "\n".join(safe(line, 4000) for line in value.split("\n"))
    if isinstance(value, list):
        return [_harmless(item) for item in value]
    if isinstance(value, dict):
        return {key: _harmless(item) for key, item in value.items()}
    return value
