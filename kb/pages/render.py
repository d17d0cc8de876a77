"""Entries and the start page → HTML by language, with Jinja2 and autoescape. Every link is relative."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kb.compiled import Body
from kb.pages.entry import RUNS, EntryPage
from kb.pages.markup import highlight, inline, markdown, plain
from kb.pages.words import LANGUAGES, area_name, say

HERE = Path(__file__).parent
STATIC = HERE / "static"
SEVERITIES = ("crash", "hang", "wrong-results", "degraded", "none")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'"
)
"""The Content-Security-Policy of every page: no inline script or style, nothing from another host."""


def environment(*folders: Path) -> Environment:
    """Jinja2 over our templates (and a caller's own), everything escaped, unknown names an error."""
    made = Environment(
        loader=FileSystemLoader([*folders, HERE / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(markdown=markdown, inline=inline, highlight=highlight, plain=plain)
    made.globals.update(say=say, area_name=area_name, RUNS=RUNS)
    return made


@dataclass(frozen=True)
class Style:
    """How pages are addressed: ``live`` by our own server (with the paste box), else as files of any web server."""

    live: bool = False
    base_url: str = ""


class Pages:
    """All pages of a set of entries."""

    def __init__(self, bodies: Iterable[Body], style: Style | None = None, *folders: Path) -> None:
        self.style = style or Style()
        self.bodies = {str(body["id"]): body for body in bodies}
        self.jinja = environment(*folders)
        self.jinja.globals.update(style=self.style, policy=POLICY)

    def titles(self, lang: str) -> dict[str, str]:
        return self._titles[lang]

    @cached_property
    def _views(self) -> dict[str, dict[str, EntryPage]]:
        return {lang: {i: EntryPage.of(b, lang) for i, b in self.bodies.items()} for lang in LANGUAGES}

    @cached_property
    def _titles(self) -> dict[str, dict[str, str]]:
        return {lang: {i: plain(view.title) for i, view in views.items()} for lang, views in self._views.items()}

    def view(self, id_: str, lang: str) -> EntryPage:
        """An entry as its page shows it. Raises KeyError for an unknown id."""
        return self._views[lang][id_]

    def entry(self, id_: str, lang: str) -> str:
        """The page of one entry. Raises KeyError for an unknown id."""
        return self.show("entry.html", lang, f"{id_}.html", entry=self.view(id_, lang), titles=self._titles[lang])

    def start(self, lang: str, answer: str = "", log: str = "", file_name: str = "index.html") -> str:
        """The start page: search, filters, every entry by area; on the live server the paste box and its answer."""
        views = list(self._views[lang].values())
        areas = sorted({v.area for v in views}, key=lambda a: (-sum(v.area == a for v in views), a))
        libraries = Counter(name for view in views for name in view.libraries)
        return self.show(
            "start.html", lang, file_name, entries=views, titles=self._titles[lang], areas=areas,
            libraries=sorted(name for name, count in libraries.items() if count > 1),
            severities=[s for s in SEVERITIES if any(v.severity == s for v in views)], answer=answer, log=log,
        )  # fmt: skip

    def show(self, template: str, lang: str, name: str, **values: Any) -> str:
        """Any page in our layout; ``name`` is its file name, the same in both languages."""
        root = "../" if lang == "zh" else ""
        other = f"../{name}" if lang == "zh" else f"zh/{name}"
        page = self.jinja.get_template(template)
        return page.render(lang=lang, root=root, other=other, name=name, **values)

    def search_data(self) -> str:
        """The script that holds what is searched: both languages of every entry, as data."""
        rows = [_row(self._views["en"][i], self._views["zh"][i]) for i in self.bodies]
        text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
        return "window.TROUBLESHOOT = " + re.sub("[\u2028\u2029]", " ", text).replace("</", "<\\/") + ";\n"


def _row(english: EntryPage, chinese: EntryPage) -> dict[str, str]:
    """One entry for the search: id, titles, messages, causes, names."""
    translated = not chinese.untranslated
    return {
        "id": english.id,
        "title": plain(english.title),
        "zh": plain(chinese.title) if translated else "",
        "messages": "\n".join(english.messages),
        "cause": plain(english.cause, 600),
        "zhCause": plain(chinese.cause, 400) if translated else "",
        "names": " ".join([english.id.replace("-", " "), english.area, *english.libraries]),
    }


def static_files() -> Sequence[Path]:
    """The files that pages refer to, below `STATIC`."""
    return sorted(p for p in STATIC.rglob("*") if p.is_file())
