"""The distinct messages of each package as the shipped index holds them, so that new releases are linked to them without reading
the old ones again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, cast

from kb.index.make.link import LinkedMessage, Site
from kb.index.place import Hole, Kind, MessagePlace, Piece
from kb.index.record import FORMAT, MOST_SITES, Head, Row, Spans, StoredSite, Tail, head, tail, unpack


class ShippedPackage(NamedTuple):
    """One package of the shipped index."""

    releases: list[str]
    """Oldest first."""
    messages: list[LinkedMessage]


def shipped_package(path: Path, name: str) -> ShippedPackage | None:
    """The package or compiled part of a name in an index file; None where the file is missing, is of another form, or does not have it."""
    if not path.exists():
        return None
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as base:
        if base.execute("pragma user_version").fetchone()[0] != FORMAT:
            return None
        begin = 0
        for owner, releases, blocks in base.execute("select name, releases, blocks from package order by id"):
            if owner == name:
                rows = list(_rows(base, begin, begin + blocks))
                return ShippedPackage(releases.split(), [_message(*row) for row in rows])
            begin += blocks
    return None


def _rows(base: sqlite3.Connection, begin: int, end: int) -> Iterator[tuple[Head, Tail, Row]]:
    """The head, the tail and the stored tail of the messages of some blocks."""
    dictionaries = base.execute("select head, tail from dictionary").fetchone()
    for packed in base.execute("select head, tail from block where id >= ? and id < ? order by id", (begin, end)):
        heads, tails = (unpack(data, dictionary) for data, dictionary in zip(packed, dictionaries, strict=True))
        for first, second in zip(heads, tails, strict=True):
            yield head(first), tail(second), second


def _message(stored: Head, told: Tail, row: Row) -> LinkedMessage:
    message = LinkedMessage(stored.kind, stored.exception, stored.level, stored.literals, replaced=told.replaced)
    if len(told.sites) == MOST_SITES:  # it may have stood in more places; of any other message the index keeps them all
        message.elsewhere = _bits(told.spans)
    for site, site_row in zip(told.sites, row[-1], strict=True):
        copy = sum((site.file, site.function) == known[:2] for known in message.sites)
        place = _place(stored, site)
        message.sites[site.file, site.function, copy] = Site(place, site.spans[-1][1], _bits(site.spans), site_row)
    return message


def _place(stored: Head, site: StoredSite) -> MessagePlace:
    expressions = iter(site.expressions)
    template: list[Piece] = [Hole(next(expressions, "")) if piece is None else piece for piece in stored.literals]
    return MessagePlace(
        cast("Kind", stored.kind), stored.exception, stored.level, tuple(template), site.file, site.function, site.line, site.line,
        site.guards, site.parameters, site.bindings,
    )  # fmt: skip


def _bits(spans: Spans) -> int:
    return sum(1 << number for begin, end in spans for number in range(begin, end + 1))
