"""The table of words of an index: a question reads the buckets of its words, and finds what was written."""

from __future__ import annotations

import sqlite3

from kb.index.places_of_words import TABLE, PlacesOfWords, buckets


def table(entries: list[tuple[int, int, int]]) -> PlacesOfWords:
    base = sqlite3.connect(":memory:")
    base.execute(TABLE)
    base.executemany("insert into numbers values (?, ?)", buckets("word", entries))
    return PlacesOfWords(base)


def test_each_key_gives_its_places_and_no_others():
    keys = [0, 1, 0xFFFF, 1 << 22, (1 << 32) - 1]
    found = table([(key, number, number + 7) for number, key in enumerate(keys)])
    for number, key in enumerate(keys):
        assert found.of("word", key) == [(number, number + 7)]
    assert found.of("word", 2) == []
    assert found.of("file", 0) == []


def test_a_key_with_several_places_gives_all_of_them():
    found = table([(9, 3, 0), (9, 1, 5), (8, 2, 0)])
    assert found.of("word", 9) == [(1, 5), (3, 0)]
