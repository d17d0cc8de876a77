"""The index of a pack: the literals that trigger entries, and where each entry's parts are."""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

Status = Literal["draft", "reviewed", "proven", "retired"]
"""The status of an entry: its author calls it a draft, somebody tried to refute it and could not, a recorded run confirms it
(or `check --proof` proves its words: `kb.printed.proven`), or another entry replaces it. Reviewed and proven are independent
of each other."""


class Listed(NamedTuple):
    """What a list shows of an entry. ``titles``: by the code of another language."""

    id: str
    area: str
    kind: str
    severity: str
    title: str
    titles: dict[str, str]
    status: list[Status]


class LiteralIndex:
    """The literals that trigger entries, and the places of the entries' parts. Places count from the first byte after
    the index."""

    def __init__(self, index: dict[str, Any], read: Callable[[int, int], bytes]) -> None:
        """``read`` returns the bytes at a place: it takes an offset and a length."""
        self.count: int = index["count"]
        """The number of literals."""
        self.checked: dict[str, str] = index["checked"]
        """By package: the newest release against which the entries were checked."""
        self.pseudo: dict[str, list[int]] = index["pseudo"]
        self.ids: list[str] = index["ids"]
        self.aliases: list[tuple[str, str]] = [(alias, id_) for alias, id_ in index["aliases"]]
        """Earlier ids, each with the id of today."""
        self.retired: dict[str, str] = index["retired"]
        """The successor of each retired entry."""
        self.tables: dict[str, list[int]] = index["tables"]
        self._sections: dict[str, list[int]] = index["sections"]
        self._read = read
        self._read_numbers: dict[str, array[int]] = {}

    def _numbers(self, name: str) -> array[int]:
        if (known := self._read_numbers.get(name)) is None:
            known = self._read_numbers[name] = _little(array("I", self._read(*self._sections[name])))
        return known

    @cached_property
    def literals(self) -> list[str]:
        """All literals. They are needed only if nothing that is made from them was kept."""
        found: list[str] = json.loads(self._read(*self._sections["literals"]))
        return found

    def some_literals(self, start: int, stop: int) -> list[str]:
        """The literals with these numbers."""
        return self.literals[start:stop]

    @cached_property
    def with_digits(self) -> dict[int, str]:
        """The literals that contain digits, by number."""
        found: dict[str, str] = json.loads(self._read(*self._sections["digits"]))
        return {int(number): text for number, text in found.items()}

    @cached_property
    def by_id(self) -> dict[str, int]:
        """The number of each entry."""
        return {id_: number for number, id_ in enumerate(self.ids)}

    def listing(self) -> list[Listed]:
        """The data with which a list shows each entry, in the order of the ids. No entry is read for it."""
        rows = json.loads(self._read(*self._sections["listing"]))
        return [Listed(id_, *row) for id_, row in zip(self.ids, rows, strict=True)]

    def owners(self, literal: int) -> Sequence[int]:
        """The entries that a literal triggers."""
        start, stop = self._numbers("starts")[literal : literal + 2]
        return self._numbers("owners")[start:stop]

    def place(self, entry: int) -> tuple[int, int, int, int]:
        """The offset of an entry's parts, and the length of each: the matched part, the texts, and what linking added."""
        at, matched, texts, linked = self._numbers("places")[4 * entry : 4 * entry + 4]
        return at, matched, texts, linked

    def kept(self) -> list[str]:
        """What the next compilation of the folder reuses, as lines of JSON: what concerns the whole pack, then one line an entry
        in the order of the ids. Empty in a pack without such data."""
        return self._lines("kept")

    def search(self) -> Any:
        """The index for searches, as `kb.search.encode` made it; None in the pack of a folder, which has `terms`."""
        return json.loads(self._read(*self._sections["search"])) if "search" in self._sections else None

    def terms(self) -> tuple[dict[str, list[Any]], dict[str, Any]]:
        """What the index for searches is made from, in the pack of a folder: the fields of `kb.search.Terms`, and the
        lookalikes of entries that have some, both by entry."""
        related, *entries = self.search_terms()
        return dict(zip(self.ids, json.loads(f"[{','.join(entries)}]"), strict=True)), json.loads(related)

    def search_terms(self) -> list[str]:
        """The data of `terms` as lines of JSON: the lookalikes, then one line an entry in the order of the ids."""
        return self._lines("terms")

    def _lines(self, section: str) -> list[str]:
        if section not in self._sections:
            return []
        return self._read(*self._sections[section]).decode().split("\n")


def numbers(given: Iterable[int]) -> bytes:
    """An array of numbers below 2^32, as an index stores them."""
    return _little(array("I", given)).tobytes()


def _little(given: array[int]) -> array[int]:
    """The numbers with their lowest byte first, which is their form in a pack; or back from that form."""
    if sys.byteorder == "big":
        given.byteswap()
    return given
