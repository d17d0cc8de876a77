"""Write the pages as static files for any web server, below any path; ``file://`` works, too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from kb.compiled import Body
from kb.errors import TroubleshootError
from kb.pages.render import STATIC, Pages, Style, static_files
from kb.pages.render import folder as area_folder
from kb.pages.words import LANGUAGES, place

MARK = ".troubleshoot-site"
"""A file that lists everything we wrote. Only a folder that contains it, or an empty folder, is written to."""
PLACES = {lang: place(lang) for lang in LANGUAGES}
"""The folder of each language's pages."""


class SiteError(TroubleshootError):
    """The folder cannot be written to. The message is one sentence with its place and the next step."""


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
    files = _Files(folder)
    try:
        for name, text in _pages(pages, base_url):
            files.write(name, text.encode())
        for path in static_files():
            files.write(f"static/{path.relative_to(STATIC).as_posix()}", path.read_bytes())
        files.finish()
    except OSError as error:
        raise SiteError(
            f"{error.filename or folder}: cannot be written: {error.strerror}; name another folder"
        ) from error
    return Built(len(pages.bodies), len(files.names), files.bytes)


def _pages(pages: Pages, base_url: str) -> Iterable[tuple[str, str]]:
    """Each file's name and text."""
    names = ["index.html"]
    for lang, home in PLACES.items():
        yield f"{home}index.html", pages.start(lang)
        yield f"{home}search-entries.js", pages.search_entries(lang)
    for area in pages.areas:
        names.append(f"{area_folder(area)}/index.html")
        for lang, home in PLACES.items():
            yield f"{home}{names[-1]}", pages.area(area, lang)
    for id_ in pages.bodies:
        names.append(pages.address(id_))
        for (
            lang,
            home,
        ) in PLACES.items():  # all languages of an entry together: the code that they share is highlighted once
            yield f"{home}{names[-1]}", pages.entry(id_, lang)
    for alias, id_ in pages.aliases.items():
        for lang, home in PLACES.items():
            yield f"{home}{PurePosixPath(pages.address(id_)).with_name(alias)}.html", pages.moved(alias, lang)
    yield "search-index.js", pages.search_index()
    yield "sitemap.xml", sitemap(names, base_url)


class _Files:
    """The files of a site. Files that only the last build wrote are removed; files of others are left alone."""

    def __init__(self, folder: Path) -> None:
        """Raises `SiteError` for a folder that contains files but no site of ours."""
        self.folder = folder
        self.names: set[str] = set()
        self.bytes = 0
        try:
            if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
                raise SiteError(
                    f"{folder}: is not empty and holds no site of ours; name a new folder, or empty this one"
                )
            self._before = self._listed() if folder.exists() else set()
            folder.mkdir(parents=True, exist_ok=True)
            self._mark(self._before)
        except OSError as error:
            text = f"{error.filename or folder}: cannot be written: {error.strerror}; name another folder"
            raise SiteError(text) from error

    def write(self, name: str, content: bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.names.add(name)
        self.bytes += len(content)

    def finish(self) -> None:
        """Remove what the last build wrote and this one did not, and note what was written."""
        for name in self._before - self.names:
            path = self.folder / name
            path.unlink(missing_ok=True)
            for parent in path.relative_to(self.folder).parents:
                place = self.folder / parent
                if place != self.folder and place.is_dir() and not any(place.iterdir()):
                    place.rmdir()
        self._mark(self.names)

    def _listed(self) -> set[str]:
        if not (self.folder / MARK).exists():
            return set()
        names = (self.folder / MARK).read_text(encoding="utf-8").splitlines()[1:]
        if not names:  # a site of an earlier release: pages in one flat folder, no list
            patterns = (*(f"{folder}*.html" for folder in PLACES.values()), "search-data.js")
            flat = [path for pattern in patterns for path in self.folder.glob(pattern)]
            names = [path.relative_to(self.folder).as_posix() for path in flat]
        return {name for name in names if not PurePosixPath(name).is_absolute() and ".." not in name.split("/")}

    def _mark(self, names: Iterable[str]) -> None:
        text = "\n".join(
            ["Written by troubleshoot build-site; these files are replaced or removed by it:", *sorted(names)]
        )
        (self.folder / MARK).write_text(text + "\n", encoding="utf-8")


def sitemap(names: list[str], base_url: str) -> str:
    """Addresses of all pages with their other languages; ``names`` are those of the English ones. Search engines want absolute ones: give a base URL."""
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ]
    if not base_url:
        lines.append("<!-- relative: build with base-url for the absolute addresses that search engines ask for -->")
    for name in map(quote, sorted(names)):
        addresses = {lang: escape(f"{base_url}{folder}{name}") for lang, folder in PLACES.items()}
        all_of_it = "".join(
            f'<xhtml:link rel="alternate" hreflang="{lang}" href="{address}"/>' for lang, address in addresses.items()
        )
        lines += [f"<url><loc>{address}</loc>{all_of_it}</url>" for address in addresses.values()]
    return "\n".join([*lines, "</urlset>"]) + "\n"
