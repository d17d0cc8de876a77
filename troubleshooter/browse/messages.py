"""The live server's pages about the index of messages: one with statistics, and one for the messages of each package.

They are made on request; as static files they would be tens of thousands.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from kb.index.message import IndexedMessage, IndexUnreadable, ReleaseChanges
from kb.index.place import Guard, shown
from kb.index.store import MessageIndex, manifest, shipped
from kb.pages.render import Pages
from kb.pages.words import say

ON_A_PAGE = 50
"""Messages of a package on one page."""
MAX_SHOWN = 8
"""Messages that a search over all packages shows."""
MAX_QUERY = 200
"""Only this many characters of a search are used."""


class MessagePages:
    """Makes the pages. The index is opened for the first page, not before."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._changes = lru_cache(maxsize=128)(self._changes_of)

    def statistics(self, lang: str, query: str) -> str | None:
        """The page with every package, its counts, and the messages that ``query`` finds; None if no index is installed."""
        index, told = _index(), _manifest()
        if index is None or told is None:
            return None
        counts: dict[str, dict[str, int]] = told["counts"]
        rows = [
            {"package": name, "range": _range(index.releases(name)), **counts[name]}
            for name in sorted(index.packages(), key=str.lower)
            if name in counts
        ]
        query = query.strip()[:MAX_QUERY]
        found = [_row(one, lang) for one in index.search(query, MAX_SHOWN)] if query else []
        return self._pages.show(
            "messages.html", lang, "messages/index.html", rows=rows, total=told, query=query, found=found
        )

    def package(self, name: str, lang: str, query: str, number: int) -> str | None:
        """Page ``number`` of a package's messages, `ON_A_PAGE` on each; None if the index does not know the package."""
        index = _index()
        if index is None or name not in index.packages():
            return None
        query = query.strip()[:MAX_QUERY]
        messages = index.of_package(name, query)
        last = max(1, -(-len(messages) // ON_A_PAGE))
        number = min(max(1, number), last)
        part = messages[(number - 1) * ON_A_PAGE : number * ON_A_PAGE]
        changes = self._changes(name)
        return self._pages.show(
            "package.html", lang, f"messages/{name}.html", package=name, found=[_row(one, lang) for one in part],
            count=len(messages), query=query, number=number, last=last, changes=changes,
            most=max((max(one.arrived, one.vanished) for one in changes), default=1) or 1,
        )  # fmt: skip

    def _changes_of(self, name: str) -> list[ReleaseChanges]:
        index = _index()
        return index.changes(name)[::-1] if index is not None else []


def _row(one: IndexedMessage, lang: str) -> dict[str, Any]:
    site = one.sites[0] if one.sites else None
    return {
        "text": shown(one.template), "kind": one.exception or one.level or one.kind, "package": one.package,
        "place": f"{site.file}, {site.function}" if site and site.function else site.file if site else "",
        "places": len(one.sites), "guards": [_guard(guard, lang) for guard in (site.guards[-3:] if site else ())],
        "since": None if one.first_is_oldest or not one.releases else one.releases[0][0],
        "until": None if one.last_is_newest or not one.releases else one.releases[-1][1],
        "replaced": one.replaced,
    }  # fmt: skip


def _guard(guard: Guard, lang: str) -> str:
    """A condition in the words of the source, negated if the message is printed when it does not hold."""
    if guard.kind in ("for", "while", "except", "case", "try"):
        return f"{guard.kind} {guard.condition}"
    return guard.condition if guard.holds else say("not-so", lang, condition=guard.condition)


def _range(releases: Any) -> str:
    return f"{releases[0]} - {releases[-1]}" if len(releases) > 1 else "".join(releases)


def _index() -> MessageIndex | None:
    try:
        return shipped()
    except IndexUnreadable:
        return None


def _manifest() -> dict[str, Any] | None:
    try:
        return manifest()
    except IndexUnreadable:
        return None
