"""Render entries, areas and the start page as HTML in each language, with Jinja2 and autoescape. Every link is relative."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kb.compiled import Body
from kb.pages.entry import RUNS, EntryPage
from kb.pages.markup import clean, highlight, inline, markdown, plain
from kb.pages.words import LANGUAGES, area_name, place, say
from kb.search import SearchIndex
from kb.text.catalog import ENGLISH, language

HERE = Path(__file__).parent
STATIC = HERE / "static"
COMMON, OF_AREA = 12, 2
"""How many of the most common failures the start page shows, and of each area."""
RESERVED = ("messages", "static", *(place(code).rstrip("/") for code in LANGUAGES if code != ENGLISH))
"""Folders of the site that are no area."""
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
    made.globals.update(
        languages=LANGUAGES, say=say, area_name=area_name, place=place, language=language, folder=folder, asset=asset, RUNS=RUNS,
    )  # fmt: skip
    return made


@dataclass(frozen=True)
class Style:
    """How pages are addressed: ``live`` by our own server (with the paste box), else as files of any web server."""

    live: bool = False
    base_url: str = ""


class Pages:
    """All pages of a set of entries. Names of pages are paths below the folder of their language."""

    def __init__(
        self, bodies: Iterable[Body], style: Style | None = None, *folders: Path, index: SearchIndex | None = None
    ) -> None:
        """``index``: the search index over these entries, if it was built already; else it is built when it is needed."""
        self.style = style or Style()
        self.bodies = {str(body["id"]): body for body in bodies}
        self.jinja = environment(*folders)
        self.jinja.globals.update(style=self.style, policy=POLICY, known=self.bodies, address=self.address)
        self.aliases = {
            str(alias): id_
            for id_, body in self.bodies.items()
            for alias in body.get("aliases", ())
            if alias not in self.bodies
        }
        """Earlier ids of entries, each with the id of today."""
        self._index = index
        self._clean: dict[str, Body] = {}
        self._views: dict[tuple[str, str], EntryPage] = {}
        self._titles: dict[tuple[str, str], str] = {}

    @cached_property
    def index(self) -> SearchIndex:
        return self._index or SearchIndex.over(list(self.bodies.values()))

    @cached_property
    def commonness(self) -> dict[str, int]:
        """How common each failure is (`kb.search.commonness`)."""
        found = {id_: fact.commonness for id_, fact in zip(self.index.ids, self.index.facts, strict=True)}
        return {id_: found[id_] for id_ in self.bodies}

    @cached_property
    def areas(self) -> dict[str, list[str]]:
        """The ids of each area, the most common first; the largest area first. Retired entries are in none."""
        found: dict[str, list[str]] = {}
        for id_, body in self.bodies.items():
            of_area = found.setdefault(clean(str(body["area"])), [])
            if not body.get("replaced_by"):
                of_area.append(id_)
        for ids in found.values():
            ids.sort(key=lambda id_: (-self.commonness[id_], id_))
        return dict(sorted(found.items(), key=lambda item: (-len(item[1]), item[0])))

    @cached_property
    def common(self) -> list[str]:
        """The most common failures, at most `OF_AREA` of each area."""
        found = [
            id_
            for ids in self.areas.values()
            for id_ in [i for i in ids if self.bodies[i]["kind"] == "failure"][:OF_AREA]
            if self.commonness[id_]
        ]
        return sorted(found, key=lambda id_: (-self.commonness[id_], id_))[:COMMON]

    @cached_property
    def libraries(self) -> list[str]:
        """The libraries that several entries are about."""
        counts = Counter(name for names in self._libraries.values() for name in names)
        return sorted(name for name, count in counts.items() if count > 1)

    @cached_property
    def _libraries(self) -> dict[str, list[str]]:
        return {id_: clean(EntryPage(body, "en").libraries) for id_, body in self.bodies.items()}

    def address(self, id_: str) -> str:
        """The name of an entry's page. Raises KeyError for an unknown id."""
        return f"{folder(clean(str(self.bodies[id_]['area'])))}/{id_}.html"

    def title(self, id_: str, lang: str) -> str:
        """The title of an entry without markup. Raises KeyError for an unknown id."""
        if (known := self._titles.get((id_, lang))) is None:
            known = self._titles[id_, lang] = plain(clean(EntryPage(self.bodies[id_], lang).title))
        return known

    def view(self, id_: str, lang: str) -> EntryPage:
        """An entry as its page shows it. Raises KeyError for an unknown id."""
        if (known := self._views.get((id_, lang))) is None:
            if (body := self._clean.get(id_)) is None:
                body = self._clean[id_] = clean(self.bodies[id_])
            known = self._views[id_, lang] = EntryPage(body, lang)
        return known

    def entry(self, id_: str, lang: str) -> str:
        """The page of one entry. Raises KeyError for an unknown id."""
        return self.show("entry.html", lang, self.address(id_), entry=self.view(id_, lang))

    def moved(self, alias: str, lang: str) -> str:
        """The page at an earlier address of an entry: it names the new one. Raises KeyError for an unknown alias."""
        id_ = self.aliases[alias]
        return self.show("moved.html", lang, f"{folder(clean(str(self.bodies[id_]['area'])))}/{alias}.html", id=id_)

    def area(self, area: str, lang: str) -> str:
        """The page of an area: the titles of its entries. Raises KeyError for an unknown area."""
        entries = [self.view(id_, lang) for id_ in self.areas[area]]
        return self.show("area.html", lang, f"{folder(area)}/index.html", area=area, entries=entries)

    def start(self, lang: str, answer: str = "", log: str = "", file_name: str = "index.html") -> str:
        """The start page: search, filters, the areas and the most common failures; on the live server the paste box and
        its answer."""
        severities = {body["severity"] for body in self.bodies.values()}
        return self.show(
            "start.html", lang, file_name, count=len(self.bodies), areas=self.areas, libraries=self.libraries,
            common=[self.view(id_, lang) for id_ in self.common],
            severities=[s for s in SEVERITIES if s in severities], answer=answer, log=log,
        )  # fmt: skip

    def show(self, template: str, lang: str, name: str, depth: int | None = None, **values: Any) -> str:
        """Any page in our layout; ``name`` is the same in every language. ``depth``: how many folders below that of its
        language the page is shown, where its name does not tell."""
        home = "../" * (name.count("/") if depth is None else depth)
        root = f"{home}../" if place(lang) else home
        page = self.jinja.get_template(template)
        title = partial(self.title, lang=lang)
        return page.render(lang=lang, home=home, root=root, name=name, title=title, **values)

    def search_index(self) -> str:
        """The script that holds what `kb.search` made: the words of all entries, in all languages."""
        return _script("index", self.index.data())

    def search_entries(self, lang: str) -> str:
        """The script that holds what results show in a language, in the order of the index."""
        offered = set(self.libraries)
        rows = []
        for id_ in self.index.ids:
            body = self.bodies[id_]
            rows.append(
                {
                    "id": id_, "at": quote(self.address(id_)), "title": self.title(id_, lang),
                    "area": clean(str(body["area"])), "severity": body["severity"],
                    "kind": "cascade" if body["role"] == "cascade" else body["kind"],
                    "libraries": [name for name in self._libraries[id_] if name in offered],
                }
            )  # fmt: skip
        return _script("severities", {name: say(name, lang) for name in SEVERITIES}) + _script("entries", rows)


def folder(area: str) -> str:
    """The folder of an area's pages: its name as far as an address may hold it."""
    name = re.sub(r"[^\w.-]+", "-", area).strip(".-") or "area"
    return f"area-{name}" if name in RESERVED else name


def area_folders(areas: Iterable[str]) -> dict[str, str]:
    """The areas by `folder`."""
    return {folder(area): area for area in areas}


def _script(name: str, value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    text = re.sub("[\u2028\u2029]", " ", text).replace("</", "<\\/")
    return f"(window.TROUBLESHOOT = window.TROUBLESHOOT || {{}}).{name} = {text};\n"


@lru_cache(maxsize=64)
def asset(name: str) -> str:
    """A file of `STATIC` as pages refer to it: with a digest of its content, so that browsers may keep it for ever."""
    digest = hashlib.blake2b((STATIC / name).read_bytes(), digest_size=5).hexdigest()
    return f"static/{name}?v={digest}"


def static_files() -> Sequence[Path]:
    """The files that pages refer to, below `STATIC`."""
    return sorted(p for p in STATIC.rglob("*") if p.is_file())
