"""Writes the index that is shipped: one SQLite file of compressed blocks, the same bytes from the same kept releases."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import zstandard

from kb.index.make.link import LinkedMessage, Site, spans
from kb.index.places_of_words import TABLE, buckets
from kb.index.record import BLOCK_MESSAGES, FORMAT, HEAD, MOST_SITES, TAIL, Row, pack, site_row
from kb.index.words import anchors, number

_DICTIONARY_BYTES = 32_000
"""zlib sees the last 32,768 bytes."""
_SAMPLE_ROWS, _LEAST_SAMPLE_ROWS = 20_000, 2_000
"""A dictionary is made from about this many rows. Of fewer than the least, nothing can be learnt."""


class Linked(NamedTuple):
    """The messages of one package."""

    package: str
    part_of: str
    """Of a compiled part: the package that people know; else ""."""
    modules: tuple[str, ...]
    releases: list[str]
    messages: list[LinkedMessage]
    brief: bool = False
    """Whether parameters and bindings are left out."""


def write(path: Path, packages: Sequence[Linked]) -> None:
    """Write the index; an older file is replaced. Of messages that fit alike, those of earlier packages come first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_suffix(".part")
    waiting.unlink(missing_ok=True)
    base = sqlite3.connect(waiting)
    base.executescript(
        f"""
        pragma page_size = 65536; pragma journal_mode = off; pragma user_version = {FORMAT};
        create table dictionary (head blob, tail blob);
        create table package (id integer primary key, name text, part_of text, modules text, releases text, blocks integer);
        create table block (id integer primary key, head blob, tail blob);
        {TABLE}
        """
    )
    rows = {linked.package: [message_row(item, brief=linked.brief) for item in linked.messages] for linked in packages}
    every = [row for linked in packages for row in rows[linked.package]]
    head, tail = (_dictionary([row[part] for row in every]) for part in (HEAD, TAIL))
    base.execute("insert into dictionary values (?, ?)", (head, tail))
    files: set[tuple[int, int]] = set()
    slots: list[int] = []
    block = 0
    for linked in packages:
        base.execute(
            "insert into package values (null, ?, ?, ?, ?, ?)",
            (
                linked.package,
                linked.part_of or linked.package,
                " ".join(linked.modules),
                " ".join(linked.releases),
                -(-len(rows[linked.package]) // BLOCK_MESSAGES),
            ),
        )
        for begin in range(0, len(rows[linked.package]), BLOCK_MESSAGES):
            part = rows[linked.package][begin : begin + BLOCK_MESSAGES]
            packed = pack([row[HEAD] for row in part], head), pack([row[TAIL] for row in part], tail)
            base.execute("insert into block values (?, ?, ?)", (block, *packed))
            files |= {(number(site[0]), block) for row in part for site in row[-1]}
            slots += [block * BLOCK_MESSAGES + place for place in range(len(part))]
            block += 1
    found = anchors([[None if piece == 0 else piece for piece in row[3]] for row in every])
    words = {(word, slot, second) for slot, numbers in zip(slots, found, strict=True) for word, second in numbers}
    base.executemany("insert into numbers values (?, ?)", buckets("file", {(key, block, 0) for key, block in files}))
    base.executemany("insert into numbers values (?, ?)", buckets("word", words))
    base.commit()
    base.execute("vacuum")
    base.close()
    waiting.replace(path)


def message_row(message: LinkedMessage, *, brief: bool = False) -> Row:
    """One message as it is stored."""
    present = message.present
    return [
        message.kind, message.exception or 0, message.level or 0,
        [0 if piece is None else piece for piece in message.literals],
        [list(span) for span in spans(present)], message.replaced or 0,
        [_site_row(site, [] if site.present == present else spans(site.present), brief=brief) for site in kept_sites(message)],
    ]  # fmt: skip


def kept_sites(message: LinkedMessage) -> list[Site]:
    """The places of a message that the index keeps, the latest first."""
    sites = sorted(message.sites.items(), key=lambda item: (-item[1].latest, item[0]))
    return [site for _, site in sites[:MOST_SITES]]


def _site_row(site: Site, own: Sequence[tuple[int, int]], *, brief: bool) -> Row:
    if site.stored is None:
        return site_row(site.place, own, brief=brief)
    return [*site.stored[:-1], [list(span) for span in own]]


def _dictionary(rows: Sequence[Row]) -> bytes:
    """Text that all blocks are packed with: what many rows of an evenly drawn sample share, or the sample where it is small."""
    texts = [json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") for row in rows]
    sample: list[bytes | bytearray | memoryview[int]] = list(texts[:: max(1, len(texts) // _SAMPLE_ROWS)])
    if len(sample) < _LEAST_SAMPLE_ROWS:
        return b"".join(sample)[-_DICTIONARY_BYTES:]
    return zstandard.train_dictionary(_DICTIONARY_BYTES, sample).as_bytes()
