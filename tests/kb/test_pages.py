"""Fix pages: every entry in both languages, links that lead somewhere, hostile texts shown harmlessly, a static site."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from kb.compiled import Body
from kb.load import load
from kb.pages.entry import EntryPage, readable, repaired
from kb.pages.markup import highlight, inline, markdown, plain
from kb.pages.render import Pages
from kb.pages.site import MARK, SiteError, build
from kb.pages.words import LANGUAGES
from kb.shown import printed, records
from tests.conftest import WELL_KNOWN, Draw
from troubleshooter.pipeline import Diagnoser

DRAWN = 150
"""Entries whose pages the default run makes; the stage `entries` makes all."""
BIDI = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069]")


class Links(HTMLParser):
    """Addresses that a page refers to or loads, and everything that a strict policy forbids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.forbidden: list[str] = []
        self.ids: set[str] = set()
        self.switch = ""
        self.description = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids.add(given.get("id", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("script", "img", "link", "iframe", "object", "embed", "source"):
            self.loaded.append(given.get("src") or given.get("href") or "")
        if tag in ("style", "iframe", "object", "embed", "base") or (tag == "script" and not given.get("src")):
            self.forbidden.append(tag)
        self.forbidden += [name for name in given if name == "style" or name.startswith("on")]
        if "language" in given.get("class", "").split():
            self.switch = given["href"]
        if tag == "meta" and given.get("name") == "description":
            self.description = given["content"]


@pytest.fixture(scope="module")
def bodies(draw: Draw, tool: Diagnoser) -> list[Body]:
    """Drawn entries, among them the best known and some that most people meet."""
    ids = tool.knowledge.ids()
    wanted = {*draw(ids, DRAWN), *WELL_KNOWN, *Pages(list(tool.knowledge.bodies())).common}
    return [body for body in tool.knowledge.bodies() if body["id"] in wanted]


@pytest.fixture(scope="module")
def site(bodies: list[Body], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "site"
    build(bodies, folder, "https://example.org/fixes")
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Links]:
    return {p.relative_to(site).as_posix(): Links(p.read_text("utf-8")) for p in site.rglob("*.html")}


def body(**more: Any) -> Body:
    """A small compiled entry."""
    source = {"url": "https://example.org/thread", "shows": ["cause"]}
    symptom = {"name": "1", "require": [], "support": [], "exclude": [], "source": source}
    return {
        "id": "an-entry", "area": "training", "kind": "failure", "role": "root", "severity": "crash",
        "retry": "after-fix", "title": "A title of some length", "cause": "Because.", "fixes": [], "versions": {},
        "advice": [], "translations": {}, "lookalikes": {"confused": [], "overlaps": []}, "sources": [source],
        "symptoms": [symptom], "printed": ["RuntimeError: it broke"], "verified": [],
    } | more  # fmt: skip


def test_every_entry_has_a_page_in_both_languages(pages: dict[str, Links], bodies: list[Body]) -> None:
    assert len(bodies) > 100
    for each in bodies:
        assert f"{each['area']}/{each['id']}.html" in pages
        assert f"zh/{each['area']}/{each['id']}.html" in pages
    assert {"index.html", "zh/index.html", "memory/index.html", "zh/memory/index.html"} <= set(pages)


def test_the_start_page_shows_areas_and_common_failures_and_area_pages_the_titles(
    pages: dict[str, Links], bodies: list[Body]
) -> None:
    areas = {each["area"] for each in bodies}
    for place in ("", "zh/"):
        start = pages[f"{place}index.html"].links
        assert {f"{area}/index.html" for area in areas} <= set(start)
        titles = [link for link in start if link.endswith(".html") and not link.endswith("index.html")]
        assert 5 < len(titles) <= 12
        for area in areas:
            expected = {f"../{area}/{each['id']}.html" for each in bodies if each["area"] == area and not each.get("replaced_by")}
            assert expected <= set(pages[f"{place}{area}/index.html"].links)


def test_no_folder_holds_more_files_than_a_host_lists(site: Path) -> None:
    folders = {path.parent for path in site.rglob("*")}
    assert max(sum(1 for _ in folder.iterdir()) for folder in folders) < 1000


def test_every_link_leads_to_a_file_and_every_anchor_exists(site: Path, pages: dict[str, Links]) -> None:
    for name, page in pages.items():
        here = (site / name).parent
        for link in page.links + page.loaded:
            if link.startswith(("https://", "http://")):
                continue
            path, _, anchor = link.partition("#")
            path = path.partition("?")[0]
            assert not path.startswith("/"), f"{name}: {link} works at the root only"
            target = (here / path).resolve() if path else (site / name).resolve()
            assert target.is_file(), f"{name} refers to {link}"
            if anchor and "=" not in anchor and not path:
                assert anchor in page.ids, f"{name}: no {anchor}"


def test_no_page_loads_from_another_host_or_needs_inline_script(pages: dict[str, Links]) -> None:
    for name, page in pages.items():
        assert page.forbidden == [], name
        outside = [link for link in page.loaded if link.startswith(("http:", "https:", "//"))]
        assert [link for link in outside if not link.startswith("https://example.org/fixes/")] == [], name


def test_the_language_switch_keeps_the_page(pages: dict[str, Links]) -> None:
    for name, page in pages.items():
        up = "../" * name.count("/")
        expected = f"{up}{name.removeprefix('zh/')}" if name.startswith("zh/") else f"{up}zh/{name}"
        assert page.switch == expected


def test_a_page_weighs_less_than_100_kb_with_its_style_and_script(site: Path, bodies: list[Body]) -> None:
    loaded = ["static/style.css", "static/page.js", "static/theme.js", "static/icon.svg"]
    extra = sum((site / name).stat().st_size for name in loaded)
    heaviest = max(
        (site / f"{place}{b['area']}/{b['id']}.html").stat().st_size for b in bodies for place in ("", "zh/")
    )
    assert heaviest + extra < 100_000


def test_descriptions_are_of_the_page(pages: dict[str, Links], bodies: list[Body]) -> None:
    found = [pages[f"{each['area']}/{each['id']}.html"].description for each in bodies]
    assert all(20 < len(text) <= 160 for text in found)
    assert len(set(found)) > 0.95 * len(found)


def test_the_sitemap_names_every_page_with_its_other_language(site: Path, bodies: list[Body]) -> None:
    root = ElementTree.parse(site / "sitemap.xml").getroot()
    places = [str(e.text) for e in root.iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
    assert len(places) == 2 * (len(bodies) + 1 + len({each["area"] for each in bodies}))
    for place in places:
        assert (site / place.removeprefix("https://example.org/fixes/")).is_file()
    assert len(list(root.iter("{http://www.w3.org/1999/xhtml}link"))) == 2 * len(places)


def test_code_that_both_languages_show_is_highlighted_once(bodies: list[Body], tmp_path: Path) -> None:
    highlight.cache_clear()
    build(bodies[:100], tmp_path / "site")
    fixes = [fix for body in bodies[:100] for fix in EntryPage.of(body, "en").fixes]
    shown = {fix[name] for fix in fixes for name in ("code", "shell") if fix[name]}
    assert highlight.cache_info().misses < 1.5 * len(shown) + 100


def test_a_site_is_replaced_and_other_folders_are_left_alone(bodies: list[Body], tmp_path: Path) -> None:
    folder = tmp_path / "site"
    build(bodies[:2], folder)
    build(bodies[1:2], folder)
    assert not (folder / bodies[0]["area"] / f"{bodies[0]['id']}.html").exists()
    assert (folder / "zh" / bodies[1]["area"] / f"{bodies[1]['id']}.html").exists()
    (folder / "CNAME").write_text("example.org")
    build(bodies[:1], folder)
    assert (folder / "CNAME").exists(), "what we did not write is not removed"
    assert not (folder / "zh" / bodies[1]["area"] / f"{bodies[1]['id']}.html").exists()
    other = tmp_path / "home"
    other.mkdir()
    (other / "letter.txt").write_text("mine")
    with pytest.raises(SiteError, match="not empty"):
        build(bodies[:1], other)
    assert [p.name for p in other.iterdir()] == ["letter.txt"]
    with pytest.raises(SiteError, match="expected the site's address"):
        build(bodies[:1], tmp_path / "third", "example.org")


def test_a_list_of_written_files_leads_nowhere_else(bodies: list[Body], tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("mine")
    folder = tmp_path / "site"
    build(bodies[:1], folder)
    with (folder / MARK).open("a") as mark:
        mark.write(f"../letter.txt\n{letter}\n")
    build(bodies[:1], folder)
    assert letter.exists()


def test_search_data_is_data(bodies: list[Body]) -> None:
    pages = Pages([*bodies[:5], body(title="</script><script>alert(1)</script> and \u2028 more")])
    for text in (pages.search_index(), pages.search_entries("en"), pages.search_entries("zh")):
        assert "</" not in text.replace("<\\/", "")
        assert "\u2028" not in text
    rows = json.loads(pages.search_entries("en").split(".entries = ")[1].removesuffix(";\n").replace("<\\/", "</"))
    assert len(rows) == 6
    assert all(row["id"] and row["title"] and row["at"] for row in rows)


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31mred\x1b[0m \u202eevil\u2066 <b onclick=x>"


def test_hostile_entries_are_shown_harmlessly() -> None:
    links = "[a](javascript:alert(1)) ![i](http://evil.example/x.png) [b](data:text/html,x) [ok](https://example.org)"
    fix = {"do": HOSTILE, "why": HOSTILE + links, "risk": "safe", "code": HOSTILE, "language": "python"}
    source = {"url": 'https://example.org/"onmouseover="x', "note": HOSTILE, "shows": ["cause"]}
    run = {
        "date": HOSTILE, "verdict": HOSTILE, "device": HOSTILE, "versions": {HOSTILE: HOSTILE}, "basis": "run",
        "fixes": [{"do": HOSTILE, "removes_symptom": True}],
    }  # fmt: skip
    other = {"entry": HOSTILE, "because": HOSTILE, "translations": {}}
    given = body(
        title=HOSTILE, cause=HOSTILE + "\n\n" + links, fixes=[{**fix, "shell": HOSTILE}], printed=[HOSTILE],
        versions={HOSTILE: HOSTILE}, sources=[source], verified=[run], advice=[{"because": HOSTILE}],
        lookalikes={"confused": [other], "overlaps": []}, area=HOSTILE, variant_of=HOSTILE, fallback_for=[HOSTILE],
        probe={"name": HOSTILE},
    )  # fmt: skip
    made = Pages([given])
    for lang in LANGUAGES:
        for text in (made.entry("an-entry", lang), made.start(lang), made.area(next(iter(made.areas)), lang)):
            page = Links(text)
            assert page.forbidden == []
            assert "<script>alert" not in text
            assert "<img" not in text
            assert "\x1b" not in text
            assert not BIDI.search(text)
            assert not [link for link in page.links if link.startswith(("javascript:", "data:"))]
        assert "&lt;script&gt;alert(1)" in made.entry("an-entry", lang)


def test_markdown_is_rendered_and_placeholders_are_shown_by_name() -> None:
    assert markdown("**b** and `c`\n\n| a | b |\n|---|---|\n| 1 | 2 |").count("<td>") == 2
    assert inline("set `x` to <<dtype:dtype|float32>> of <<name:identifier>>").endswith("float32 of &lt;name&gt;")
    assert plain("A **bold** `claim` that goes on and on and on", 24) == "A bold claim that goes…"
    assert '<span class="k">' in highlight("if x:\n    pass", "python")
    assert highlight("<b>", "text") == "&lt;b&gt;"


@pytest.mark.parametrize("text", ["grad_norm is NaN", "an _emphasis_ here", "1. a list", "- a list", "a `code` & more", "8-bit, 3.5 GB"])
def test_words_without_markup_are_themselves(text: str) -> None:
    assert f"{plain(text)} x" == plain(f"{text} `x`"), "the second one is rendered as Markdown"


@pytest.mark.parametrize(
    ("given", "version", "after"),
    [(">=4.50.0,<4.51.0", "4.51.0", False), ("<=0.9.3", "0.9.3", True), (">=5.0", None, False), ("", None, False)],
)
def test_the_release_that_repairs(given: str, version: str | None, after: bool) -> None:
    assert repaired(given) == (version, after)


def test_patterns_without_samples_are_readable() -> None:
    assert (
        readable(r"'(?P<cache>\w*Cache)' object has no attribute 'float'") == "'…Cache' object has no attribute 'float'"
    )
    assert readable(r"Expected all tensors\s+to be on \[?cuda:\d+") == "Expected all tensors to be on [cuda:…"


def test_messages_are_shown_as_their_samples_print_them(bodies: list[Body]) -> None:
    entry = next(b for b in bodies if b["id"] == "cache-object-float")
    assert "AttributeError: 'HybridCache' object has no attribute 'float'" in EntryPage.of(entry, "en").messages
    without = [b["id"] for b in bodies if not EntryPage.of(b, "en").messages]
    assert without == []


def test_a_recorded_run_reaches_the_page(tmp_path: Path) -> None:
    root = Path(__file__).parents[2] / "entries" / "precision" / "cache-object-float"
    copy = tmp_path / "precision" / "cache-object-float"
    (copy / "verified").mkdir(parents=True)
    for name in ("entry.yaml", "zh.yaml"):
        (copy / name).write_bytes((root / name).read_bytes())
    record = {
        "date": "2026-01-02", "verdict": "confirmed", "basis": "run",
        "environment": {"device": "cpu", "versions": {"torch": "2.9.0", "transformers": "4.50.3", "left-pad": "1"}},
        "fixes": [{"do": "Upgrade", "removes_symptom": True}, {"do": "Wait", "removes_symptom": False}],
    }  # fmt: skip
    (copy / "verified" / "one.json").write_text(json.dumps(record))
    known = {"do": "Upgrade transformers to 4.51.0 or newer", "removes_symptom": True}
    newer = {**record, "date": "2026-02-03", "fixes": [known, *record["fixes"]]}
    (copy / "verified" / "newer.json").write_text(json.dumps(newer))
    (copy / "verified" / "two.json").write_text("{")
    item = load(tmp_path).entries["cache-object-float"]
    newest, found = records(item)
    assert newest["date"] == "2026-02-03"
    assert found["versions"] == {"torch": "2.9.0", "transformers": "4.50.3"}
    assert printed(item) == [], "no samples: nothing is made up"
    compiled = {**Diagnoser.load([tmp_path]).knowledge.find("cache-object-float")[0]}  # type: ignore[index]
    page = Pages([compiled]).entry("cache-object-float", "en")
    assert "2026-01-02" in page
    assert "transformers 4.50.3" in page
    assert page.index("2026-02-03") < page.index("2026-01-02")
    assert re.search(r'Fixes that removed it:</span>\s*<a href="#fix-1">1</a>', page)
    assert re.search(r"Fixes that removed it:</span>\s*Upgrade<", page)
    assert 'id="fix-1"' in page


def test_libraries_are_single_names(bodies: list[Body]) -> None:
    body = {**bodies[0], "versions": {"<<package>>": "<2"}, "symptoms": [], "sources": [{"package": "trl, peft", "shows": ["cause"]}]}
    assert EntryPage(body, "en").libraries == ["trl", "peft"]
    named = {name for one in bodies for name in EntryPage(one, "en").libraries}
    assert "transformers" in named
    assert not [name for name in named if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name)]
