"""``troubleshoot browse`` and ``troubleshoot build-site``."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from kb.pages.words import LANGUAGES, place
from kb.search import SearchIndex
from kb.text.catalog import Section
from troubleshooter.browse.server import LOOPBACK, PORT, bind, loopback, own_hosts, serve
from troubleshooter.cli.settings import ignored
from troubleshooter.install import missing_extra
from troubleshooter.pipeline import Diagnoser

_say = Section("browse")


def browse(
    entry: str | None, *, port: int | None, host: str | None, open_browser: bool, entries: Sequence[Path], lang: str,
    next_port: bool = False, history: Path | None = None,
) -> int:  # fmt: skip
    """Serve the fix pages until Ctrl-C. Returns the exit status."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise missing_extra("browse", str(error.name)) from error
    if history is not None:
        from troubleshooter.history.store import History

        History(history, create=False).close()  # said before anything is served
    tool = Diagnoser.load(entries)
    ignore = ignored([], tool.knowledge.packs)
    if entry is not None:
        entry = str(tool.knowledge.need(entry)[0]["id"])
    listening = bind(host or LOOPBACK, PORT if port is None else port, next_port)
    from troubleshooter.browse.app import LIMIT, WebSite
    from troubleshooter.browse.worker import Worker

    worker = Worker(entries, ignore, LIMIT)
    with listening:
        number = listening.getsockname()[1]
        site = WebSite(tool.knowledge.bodies(), worker, index=SearchIndex.of(tool.knowledge), history=history)
        hosts, everywhere = own_hosts(host or LOOPBACK, number)
        shown = f"[{host}]" if host and ":" in host else host or LOOPBACK
        home = place(lang) if lang in LANGUAGES else ""
        url = f"http://{LOOPBACK if everywhere else shown}:{number}/{home}{site.pages.address(entry) if entry else ''}"
        print(_say("address", lang, url=url), flush=True)
        if not loopback(host or LOOPBACK):
            print("troubleshoot browse: " + _say("open-address", lang), file=sys.stderr)
        try:
            worker.start()
            serve(site.app(hosts, everywhere), listening, url if open_browser else None)
        except KeyboardInterrupt:
            pass
        finally:
            worker.stop()
    return 0


def build_site(folder: Path, *, entries: Sequence[Path], base_url: str = "") -> int:
    """Write the pages as static files. Returns the exit status."""
    from kb.pages.site import build

    started = time.perf_counter()
    built = build(Diagnoser.load(entries).knowledge.bodies(), folder, base_url)
    took = time.perf_counter() - started
    print(f"{built.entries} entries, {built.files} files, {built.bytes / 1e6:.1f} MB in {took:.1f} s: {folder}")
    if not base_url:
        print("sitemap.xml needs absolute addresses for search engines: give --base-url https://…", file=sys.stderr)
    return 0
