"""What the browser tests share: a real Chromium, the live server, the static site, and a page under watch."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from kb.pages.site import build
from troubleshooter.pipeline import Diagnoser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run",
    "--disable-sync", "--disable-default-apps",
]  # fmt: skip
NAN_RUN = "\n".join(
    [f"{{'loss': {2.5 * 0.97**i:.4f}, 'grad_norm': {1 + i % 5 / 10}, 'epoch': {i / 100}}}" for i in range(70)]
    + ["{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.9}"] * 12
)
CACHE = "AttributeError: 'HybridCache' object has no attribute 'float'"


@dataclass
class Watched:
    """A page with everything that it logged or asked for."""

    page: Any
    base: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def go(self, path: str = "") -> Any:
        self.page.goto(self.base + path)
        return self.page


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no chromium; apt-get install chromium, or set CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'llm-troubleshooter[browser-test]'")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    command = [sys.executable, "-m", "troubleshooter", "browse", "--port", "0", "--no-open", "--lang", "en"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://[\d.:]+/", process.stdout.readline())
        assert found
        yield found[0]
        process.terminate()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The static site in a folder whose name needs quoting, opened as files."""
    folder = tmp_path_factory.mktemp("site") / "some pages"
    build(Diagnoser.load().knowledge.bodies(), folder)
    return folder.as_uri() + "/"


@pytest.fixture
def opened(chromium: Any) -> Iterator[Callable[..., Watched]]:
    """Opens a page; afterwards nothing may have been logged as an error or asked of another host."""
    contexts: list[Any] = []
    all_watched: list[Watched] = []

    def make(base: str, width: int = 1200, **more: Any) -> Watched:
        context = chromium.new_context(viewport={"width": width, "height": 900}, **more)
        contexts.append(context)
        watched = Watched(context.new_page(), base)
        watched.page.on("console", lambda m: watched.errors.append(m.text) if m.type in ("error", "warning") else None)
        watched.page.on("pageerror", lambda error: watched.errors.append(str(error)))
        watched.page.on("request", lambda request: watched.requests.append(request.url))
        all_watched.append(watched)
        return watched

    yield make
    for context in contexts:
        context.close()
    for watched in all_watched:
        assert watched.errors == []
        outside = [u for u in watched.requests if not u.startswith((watched.base, "data:", "blob:"))]
        assert outside == [], "a request to another host"
