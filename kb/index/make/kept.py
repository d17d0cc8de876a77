"""What was read of releases, kept in one SQLite file for each package in a cache folder.

Sources are kept by their hash, so that a file that did not change between two releases is kept and read once. A change
of the reader (`FORM`) reads the kept sources again, without network.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import zstandard
from packaging.version import Version

from kb.index.place import Binding, Guard, Hole, MessagePlace, Parameter, Piece
from kb.index.places import places

FORM = 1
"""Raise it when `kb.index.places` finds other places in the same source."""
_GIVEN = 0
"""The form of places that were given, not read from a kept source."""
_TABLES = """
create table if not exists source (sha text primary key, text blob) without rowid;
create table if not exists places (sha text, form integer, found blob, primary key (sha, form)) without rowid;
create table if not exists release (version text primary key, url text, sha256 text, files blob) without rowid;
"""


class Read(NamedTuple):
    """One release that was read."""

    version: str
    sha256: str
    files: list[tuple[str, str]]
    """Path in the archive, and the key of the file's places."""


class KeptReleases:
    """The kept releases of one package."""

    def __init__(self, folder: Path, package: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._base = sqlite3.connect(folder / f"{package}.sqlite", timeout=60)
        # Readers need not wait while a release is being written.
        self._base.execute("pragma journal_mode = wal")
        self._base.executescript(_TABLES)
        self._pack = zstandard.ZstdCompressor(level=6)
        self._unpack = zstandard.ZstdDecompressor()

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def versions(self) -> list[str]:
        """The releases that are kept, oldest first."""
        return sorted((row[0] for row in self._base.execute("select version from release")), key=Version)

    def add(self, version: str, url: str, sha256: str, files: Iterable[tuple[str, str]]) -> int:
        """Keep a release, whole or not at all; returns how many of its files were not known before."""
        listed: list[tuple[str, str]] = []
        new = 0
        with self._base:
            for path, text in files:
                key = hashlib.sha256(f"{path}\0{text}".encode("utf-8", "replace")).hexdigest()[:32]
                listed.append((path, key))
                if self._base.execute("select 1 from source where sha = ?", (key,)).fetchone() is None:
                    blob = self._pack.compress(text.encode("utf-8", "replace"))
                    self._base.execute("insert into source values (?, ?)", (key, blob))
                    self._found(path, key)
                    new += 1
            row = (version, url, sha256, self._pack.compress(json.dumps(listed).encode()))
            self._base.execute("insert or replace into release values (?, ?, ?, ?)", row)
        return new

    def add_places(self, version: str, url: str, sha256: str, found: Mapping[str, Sequence[MessagePlace]]) -> None:
        """Keep a release of which the places are given, by the path of their file."""
        listed = []
        with self._base:
            for path, places_ in sorted(found.items()):
                packed = _packed(places_)
                key = hashlib.sha256(path.encode() + b"\0" + packed).hexdigest()[:32]
                listed.append((path, key))
                self._base.execute(
                    "insert or replace into places values (?, ?, ?)", (key, _GIVEN, self._pack.compress(packed))
                )
            row = (version, url, sha256, self._pack.compress(json.dumps(listed).encode()))
            self._base.execute("insert or replace into release values (?, ?, ?, ?)", row)

    def releases(self) -> Iterator[Read]:
        """The kept releases, oldest first."""
        rows = self._base.execute("select version, sha256, files from release").fetchall()
        for version, sha256, blob in sorted(rows, key=lambda row: Version(row[0])):
            files = [(path, key) for path, key in json.loads(self._unpack.decompress(blob))]
            yield Read(version, sha256, files)

    def places(self, path: str, key: str) -> list[MessagePlace]:
        """The places of one file, by the key that `Read.files` gives."""
        return [_place(row, path) for row in self._found(path, key)]

    def save(self) -> None:
        """Keep what was read anew from kept sources."""
        self._base.commit()

    def _found(self, path: str, key: str) -> list[list[object]]:
        row = self._base.execute(
            "select found from places where sha = ? and form in (?, ?)", (key, FORM, _GIVEN)
        ).fetchone()
        if row:
            return json.loads(self._unpack.decompress(row[0]))  # type: ignore[no-any-return]
        [blob] = self._base.execute("select text from source where sha = ?", (key,)).fetchone()
        text = self._unpack.decompress(blob).decode()
        packed = _packed(places(text, path))
        self._base.execute("insert or replace into places values (?, ?, ?)", (key, FORM, self._pack.compress(packed)))
        return json.loads(packed)  # type: ignore[no-any-return]


def _packed(found: Sequence[MessagePlace]) -> bytes:
    rows = [[*place[:3], [_row(piece) for piece in place.template], *place[5:]] for place in found]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _row(piece: Piece) -> object:
    return piece if isinstance(piece, str) else [piece.expression]


def _place(row: list, path: str) -> MessagePlace:  # type: ignore[type-arg]
    kind, exception, level, template, function, line, end_line, guards, parameters, bindings = row
    return MessagePlace(
        kind, exception, level,
        tuple(piece if isinstance(piece, str) else Hole(piece[0]) for piece in template),
        path, function, line, end_line,
        tuple(Guard(*guard) for guard in guards),
        tuple(Parameter(*parameter) for parameter in parameters),
        tuple(Binding(*binding) for binding in bindings),
    )  # fmt: skip


def versions(folder: Path, package: str) -> list[str]:
    """The kept releases of a package, oldest first; none where nothing is kept."""
    if not (folder / f"{package}.sqlite").exists():
        return []
    with closing(KeptReleases(folder, package)) as kept:
        return kept.versions()
