"""Find the messages that a word is an anchor of, in a table of numbered buckets. A question unpacks only the buckets it needs.

A key (32 bits) is found in the bucket of its `BUCKET_BITS` highest bits by its `LOW_BITS` lowest. The bits between are not stored: two
keys may fall together, and what is found is compared with the message anyway.
"""

from __future__ import annotations

import sqlite3
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal

from kb.index.record import little_endian, numbers

BUCKET_BITS, LOW_BITS = 10, 16
ENTRY_BYTES = 8
"""The bytes of one entry: the low bits of its key (2), the place (4), and the check of a second word (2)."""
TABLE = "create table numbers (id integer primary key, data blob);"
Name = Literal["file", "word"]
_FIRST: dict[Name, int] = {"file": 0, "word": 1 << BUCKET_BITS}

Entry = tuple[int, int, int]
"""A key, the place, and the check of a second word (0: none)."""


def buckets(name: Name, entries: Iterable[Entry]) -> Iterator[tuple[int, bytes]]:
    """The rows that store entries in a table: the id and the packed bucket."""
    parts = sorted((_bucket(key), key & _LOW, place, second) for key, place, second in entries)
    for bucket, rows in groupby(parts, key=lambda part: part[0]):
        columns = zip(*(row[1:] for row in rows), strict=True)
        data = b"".join(little_endian(array(kind, column)) for kind, column in zip("HIH", columns, strict=True))
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        yield _FIRST[name] + bucket, packer.compress(data) + packer.flush()


class PlacesOfWords:
    """The tables of words in an open index. Each bucket is unpacked once."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._read: dict[int, tuple[array[int], array[int], array[int]]] = {}

    def of(self, name: Name, key: int) -> list[tuple[int, int]]:
        """The places of a key, each with the check of its second word."""
        at = _FIRST[name] + _bucket(key)
        if at not in self._read:
            self._read[at] = self._unpacked(at)
        keys, places, seconds = self._read[at]
        low = key & _LOW
        begin = bisect_left(keys, low)
        end = bisect_right(keys, low, begin)
        return list(zip(places[begin:end], seconds[begin:end], strict=True))

    def _unpacked(self, at: int) -> tuple[array[int], array[int], array[int]]:
        row = self._base.execute("select data from numbers where id = ?", (at,)).fetchone()
        data = zlib.decompress(row[0], -15) if row is not None else b""
        count = len(data) // ENTRY_BYTES
        return numbers(data[: 2 * count], "H"), numbers(data[2 * count : 6 * count]), numbers(data[6 * count :], "H")


_LOW = (1 << LOW_BITS) - 1


def _bucket(key: int) -> int:
    return key >> (32 - BUCKET_BITS)
