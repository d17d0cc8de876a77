"""The pages as static files: any web server, any sub-path, ``file://`` too."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path

from kb.compiled import Body
from kb.pages.render import STATIC, Pages, Style, static_files
from kb.pages.words import LANGUAGES

MARK = ".troubleshoot-site"
"""Lies in a folder that we wrote: only such a folder, or an empty one, is written again."""


class SiteError(Exception):
    """A folder that cannot be written to: one sentence with its place and the next step."""


@dataclass(frozen=True, slots=True)
class Built:
    """What was written."""

    entries: int
    files: int
    bytes: int


def build(bodies: Iterable[Body], folder: Path, base_url: str = "") -> Built:
    """Write the site; pages of entries that are gone are removed. Raises `SiteError`."""
    base_url = base_url.rstrip("/") + "/" if base_url else ""
    if base_url and not base_url.startswith(("http://", "https://")):
        raise SiteError(f"--base-url {base_url}: expected the site's address, such as https://example.org/fixes/")
    pages = Pages(bodies, Style(base_url=base_url))
    files = dict(_pages(pages))
    files["search-data.js"] = pages.search_data()
    files["sitemap.xml"] = sitemap(sorted(pages.bodies), base_url)
    try:
        _prepare(folder)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        for path in static_files():
            target = folder / "static" / path.relative_to(STATIC)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    except OSError as error:
        raise SiteError(
            f"{error.filename or folder}: cannot be written: {error.strerror}; name another folder"
        ) from error
    written = [p for p in folder.rglob("*") if p.is_file()]
    return Built(len(pages.bodies), len(written), sum(p.stat().st_size for p in written))


def _pages(pages: Pages) -> Iterable[tuple[str, str]]:
    for lang in LANGUAGES:
        place = "zh/" if lang == "zh" else ""
        yield f"{place}index.html", pages.start(lang)
        for id_ in pages.bodies:
            yield f"{place}{id_}.html", pages.entry(id_, lang)


def _prepare(folder: Path) -> None:
    """An empty folder to write to. A folder with other people's files in it is left alone."""
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise SiteError(f"{folder}: is not empty and holds no site of ours; name a new folder, or empty this one")
    for part in (folder, folder / "zh"):
        part.mkdir(parents=True, exist_ok=True)
        for old in part.glob("*.html"):
            old.unlink()
    (folder / MARK).write_text("Written by troubleshoot build-site; it is replaced as a whole.\n", encoding="utf-8")


def sitemap(ids: list[str], base_url: str) -> str:
    """Addresses of all pages with their other language. Search engines want absolute ones: give a base URL."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ]
    if not base_url:
        lines.append("<!-- relative: build with base-url for the absolute addresses that search engines ask for -->")
    for name in ("index.html", *(f"{id_}.html" for id_ in ids)):
        english, chinese = escape(f"{base_url}{name}"), escape(f"{base_url}zh/{name}")
        for own in (english, chinese):
            lines.append(
                f"<url><loc>{own}</loc>"
                f'<xhtml:link rel="alternate" hreflang="en" href="{english}"/>'
                f'<xhtml:link rel="alternate" hreflang="zh" href="{chinese}"/></url>'
            )
    return "\n".join([*lines, "</urlset>"]) + "\n"
