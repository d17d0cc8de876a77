"""Turn a pasted log into HTML: the whole diagnosis with the log beside it."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment

from kb.pages.render import environment
from kb.text.catalog import Section
from troubleshooter.browse.paste import log_view, source
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import Unreadable
from troubleshooter.report.html import TEMPLATES, View, figure, words

_say = Section("browse")
OWN = Path(__file__).with_name("templates")


def answer(tool: Diagnoser, data: bytes, lang: str, limit: int) -> str:
    """The fragment ``<div class="result">…``. Raises `Unreadable` for an empty paste and for bytes that are not a log."""
    if not data.strip():
        raise Unreadable(_say("nothing-pasted", lang))
    pasted = source(data, limit)
    report = tool.report([pasted], lang=lang)
    page = _jinja().get_template("answer.html")
    return page.render(view=View.of(report), log=log_view(pasted, report), lang=lang, words=words(lang))


@lru_cache(maxsize=1)
def _jinja() -> Environment:
    made = environment(OWN, TEMPLATES)
    made.filters["figure"] = figure
    return made
