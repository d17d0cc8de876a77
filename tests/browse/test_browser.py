"""A real Chromium over the pages: search, copy, languages, paste, widths, themes, print.

Run with ``pytest -m browser``. Needs Debian's ``chromium`` (or CHROMIUM=path) and the extra ``[browser-test]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .browser import CACHE, NAN_RUN, Watched

pytestmark = pytest.mark.browser


@pytest.fixture(params=["live", "files"])
def base(request: pytest.FixtureRequest) -> str:
    """Both ways in which pages are served."""
    return str(request.getfixturevalue("server" if request.param == "live" else "files"))


def results(page: Any) -> list[str]:
    page.wait_for_selector("#results li")
    return [str(e.get_attribute("data-id")) for e in page.query_selector_all("#results li")]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("hybrdcache object has no atribute flaot", "cache-object-float"),
        ("Expected to have finshed reducton in the prior iteraton", "ddp-unused-parameters"),
        ("torch not compield with cuda enbled", "torch-cpu-only-build"),
        ("评估时崩溃", "cache-object-float"),
        ("参数没有参与 loss", "ddp-unused-parameters"),
    ],
)
def test_search_forgives_typing_errors_and_knows_chinese(
    opened: Callable[..., Watched], base: str, typed: str, expected: str
) -> None:
    for place in ("", "zh/"):
        page = opened(base).go(place + "index.html")
        page.fill("#q", typed)
        assert expected in results(page)[:5]


SIZES = [(1280, 800), (390, 844)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("place", ["", "zh/"])
def test_results_stand_under_the_box_in_view(
    opened: Callable[..., Watched], server: str, size: tuple[int, int], place: str
) -> None:
    page = opened(server, size[0]).go(place)
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.fill("#q", "loss nan")
    results(page)
    assert page.evaluate("scrollY") == 0
    seen = [
        box for e in page.query_selector_all("#results li") if (box := e.bounding_box())["y"] + box["height"] < size[1]
    ]
    assert len(seen) >= 3
    assert not page.is_visible("#paste")


def test_the_search_is_loaded_when_it_is_used(opened: Callable[..., Watched], base: str) -> None:
    watched = opened(base)
    page = watched.go("index.html")
    page.wait_for_load_state("networkidle")
    assert not [url for url in watched.requests if "search-" in url]
    page.fill("#q", "loss nan")
    assert results(page)[0] == "nonfinite-loss"
    assert len([url for url in watched.requests if "search-" in url]) == 2


@pytest.mark.parametrize("size", SIZES)
def test_the_first_fix_is_in_view_before_any_chart(
    opened: Callable[..., Watched], server: str, size: tuple[int, int]
) -> None:
    crash = (Path(__file__).parents[1] / "logs" / "gemma3-eval.log").read_text("utf-8")
    for log in (crash, NAN_RUN):
        page = opened(server, size[0], reduced_motion="reduce").go()
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.fill("#log", log)
        page.click("button.primary")
        page.wait_for_selector("#answer .headline")
        for part in ("#answer .headline", "#answer .fix h3"):
            box = page.query_selector(part).bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= size[1]
        charts = page.query_selector_all("#answer .chart")
        assert bool(charts) == (log == NAN_RUN)
        assert all(chart.bounding_box()["y"] > box["y"] for chart in charts)


def test_filters_narrow_and_the_address_keeps_them(opened: Callable[..., Watched], base: str) -> None:
    watched = opened(base)
    page = watched.go("index.html")
    assert page.is_visible(".overview")
    page.click("#fold summary")
    page.select_option("select[name=area]", "memory")
    results(page)
    assert not page.is_visible(".overview")
    found = page.query_selector_all("#results li")
    assert found
    assert {e.get_attribute("data-area") for e in found} == {"memory"}
    page.select_option("select[name=severity]", "hang")
    page.select_option("select[name=library]", "torch")
    assert len(page.query_selector_all("#results li")) < len(found)
    page.select_option("select[name=severity]", "")
    page.fill("#q", "out of memory")
    here = page.url
    assert "area=memory" in here
    page.click(".language")
    page.wait_for_selector("html[lang=zh-Hans]")
    page.wait_for_load_state()  # the search takes its state from the address once its scripts have run
    assert page.input_value("#q") == "out of memory"
    assert page.input_value("select[name=area]") == "memory"
    page.click("#clear")
    page.wait_for_selector(".overview")
    assert page.input_value("#q") == ""


def test_an_entry_page_leads_to_the_search(opened: Callable[..., Watched], base: str) -> None:
    page = opened(base).go("precision/cache-object-float.html")
    page.fill(".topsearch input", "out of memory")
    page.keyboard.press("Enter")
    page.wait_for_selector("#results li")
    assert page.input_value("#q") == "out of memory"
    page.go_back()
    page.click(".crumb a")
    page.wait_for_selector(".list li[data-id=cache-object-float]")
    page.click(".list li[data-id=cache-object-float] a")
    page.wait_for_selector("article.entry")
    page.click(".facts a")
    page.wait_for_selector("#results li")
    assert page.is_visible("select[name=library]")


def test_the_copy_button_copies(opened: Callable[..., Watched], base: str) -> None:
    more = {"permissions": ["clipboard-read", "clipboard-write"]} if base.startswith("http") else {}
    page = opened(base, **more).go("precision/cache-object-float.html")
    button = page.query_selector("#fixes .copy")
    wanted = page.query_selector("#fixes figure.code code").text_content()
    button.click()
    page.locator("#fixes .copy", has_text="Copied").first.wait_for()
    assert page.text_content("#said") == "Copied"
    if base.startswith("http"):
        assert page.evaluate("navigator.clipboard.readText()") == wanted
    page.focus(".topsearch input")
    page.keyboard.press("Control+V")
    assert page.input_value(".topsearch input") == wanted.strip()


def test_the_language_switch_keeps_page_and_place(opened: Callable[..., Watched], base: str) -> None:
    page = opened(base).go("precision/cache-object-float.html#fixes")
    page.click(".language")
    page.wait_for_selector("html[lang=zh-Hans]")
    assert page.url.endswith("/zh/precision/cache-object-float.html#fixes")
    page.click(".language")
    page.wait_for_selector("html[lang=en]")
    assert page.url == f"{base}precision/cache-object-float.html#fixes"


def test_a_pasted_log_shows_diagnosis_chart_and_evidence(opened: Callable[..., Watched], server: str) -> None:
    page = opened(server).go()
    page.fill("#log", NAN_RUN)
    page.click("button.primary")
    page.wait_for_selector("#answer .headline")
    assert page.query_selector("#answer .badge.crash, #answer .badge.wrong-results")
    assert page.query_selector("#answer .chart svg .wrong")
    assert "71" in page.text_content("#answer .chart .wrong-note")
    page.click("#answer .evidence a.place")
    assert page.evaluate("document.querySelector('#L71:target') !== null")
    assert page.is_visible("#L71")
    assert page.query_selector("#answer .fix .copy")
    page.click(".language")
    page.wait_for_selector("html[lang=zh-Hans] #answer .headline")
    assert "日志证据" in page.text_content("#answer")


def test_a_dropped_file_is_diagnosed(opened: Callable[..., Watched], server: str, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("x\n" * 5000 + f"[rank1]: {CACHE}\n")
    watched = opened(server)
    page = watched.go()
    page.set_input_files("#file", log)
    page.wait_for_selector("#answer .headline")
    assert "cache-object-float" in page.text_content("#answer")
    assert "rank 1" in page.text_content("#answer .log")
    dropped = page.evaluate_handle(
        "text => { const d = new DataTransfer(); d.items.add(new File([text], 'a.log')); return d; }", CACHE
    )
    page.dispatch_event("#log", "drop", {"dataTransfer": dropped})
    page.locator("#answer .log .ln").nth(1).wait_for(state="detached")
    page.wait_for_selector("#answer .headline")
    assert "cache-object-float" in page.text_content("#answer")


def test_a_hostile_log_runs_nothing(opened: Callable[..., Watched], server: str) -> None:
    page = opened(server).go()
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>"
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.fill("#log", f"{evil}\nKeyError: '{evil}'\n{CACHE} {evil}\n")
    page.click("button.primary")
    page.wait_for_selector("#answer .headline")
    page.wait_for_timeout(300)
    assert page.query_selector("#answer img, #answer script") is None


def test_without_script_everything_is_readable(chromium: Any, server: str) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server)
    assert page.is_visible(".areas li a")
    page.click(".areas li a")
    assert page.locator(".list li a").count() > 20
    page.go_back()
    page.fill("#log", NAN_RUN)
    page.click("button.primary")
    page.wait_for_selector("#answer .headline")
    assert page.is_visible("#answer .chart svg")
    context.close()


def test_keyboard_alone(opened: Callable[..., Watched], base: str) -> None:
    page = opened(base).go("index.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.type("hybridcache float")
    expected = f"/{results(page)[0]}.html"
    page.keyboard.press("ArrowDown")
    first = page.evaluate("document.activeElement.getAttribute('href')")
    assert first.endswith(expected)
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("Escape")
    assert page.input_value("#q") == ""
    page.keyboard.type("hybridcache float")
    results(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("article.entry")


@pytest.mark.parametrize("width", [360, 800, 1600])
@pytest.mark.parametrize(
    "path",
    ["index.html", "zh/index.html", "precision/cache-object-float.html", "zh/precision/", "zh/memory/index.html"],
)
def test_no_width_scrolls_sideways(opened: Callable[..., Watched], server: str, width: int, path: str) -> None:
    page = opened(server, width).go(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [360, 1600])
def test_no_answer_scrolls_sideways(opened: Callable[..., Watched], server: str, width: int) -> None:
    page = opened(server, width).go()
    page.fill("#log", NAN_RUN + "\n" + "x" * 5000 + "\n" + CACHE)
    page.click("button.primary")
    page.wait_for_selector("#answer .headline")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_entry_scrolls_sideways_on_a_telephone(opened: Callable[..., Watched], files: str) -> None:
    page = opened(files, 360).go("index.html")
    page.fill("#q", "loss")
    results(page)
    links = page.evaluate("TROUBLESHOOT.entries.map(row => row.at)")
    wide = []
    for link in links[::20]:
        page.goto(files + link)
        if page.evaluate("document.documentElement.scrollWidth") > 360:
            wide.append(link)
    assert wide == []


def test_dark_and_light(opened: Callable[..., Watched], base: str) -> None:
    def paper(page: Any) -> int:
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(n) for n in re.findall(r"\d+", color)[:3])

    page = opened(base, color_scheme="dark").go("precision/cache-object-float.html")
    assert paper(page) < 150
    page.click("#theme")
    assert paper(page) > 600
    page.goto(f"{base}index.html")
    assert paper(page) > 600, "the choice is kept"
    assert paper(opened(base, color_scheme="light").go("index.html")) > 600


def test_print_leaves_out_the_tools_and_is_light(opened: Callable[..., Watched], server: str) -> None:
    page = opened(server, color_scheme="dark").go("precision/cache-object-float.html")
    page.emulate_media(media="print")
    for gone in (".top", ".side", ".copy", ".bottom"):
        assert not page.is_visible(gone)
    assert page.is_visible("#fixes .code")
    color = page.evaluate("getComputedStyle(document.body).color")
    assert sum(int(n) for n in re.findall(r"\d+", color)[:3]) < 200, "dark text for white paper"
    assert len(page.pdf()) > 10_000
