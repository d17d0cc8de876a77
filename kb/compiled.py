"""The compiled form of entries: one file, mapped into memory, of which an answer reads a few kilobytes.

A pack is one file: a JSON header line, a JSON line with the index, then parts whose offsets are in the index. The parts are:
three JSON lines for each entry (the part that is matched, its texts, what linking added), a JSON line for each literal whose
entries require further literals, the tables as lines ``key<TAB>row``, and arrays of numbers by literal or entry. The header
holds the words with which the search of a large log begins.

Literals *trigger* entries. An entry is parsed only if one of its triggers was seen, so an answer takes about as long with ten
times the entries (docs/decisions/0001). A pack holds only data: JSON and numbers, never pickle. It is sealed (`kb.sealed`):
every part that is read has a checksum.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from kb.literal_index import Listed, LiteralIndex
from kb.sealed import Sealed

FORMAT = 53
"""The version of the compiled form. Raise it with every change of the form: files of an older version in a cache are
then ignored."""

WORDS = "words"
"""The table of words with which an unknown message is compared."""

Body = dict[str, Any]
MATCHED = (
    "id",
    "kind",
    "role",
    "severity",
    "symptoms",
    "versions",
    "variant_of",
    "fallback_for",
    "cause_known",
    "status",
)
"""The part of an entry that is read for a log that triggers it. The rest, three quarters of the bytes, is read only for
a report."""


def translation(item: Mapping[str, Any], lang: str) -> Any:
    """The text that a compiled entry or lookalike has in this language instead of English; None if it is not
    translated."""
    return item.get("translations", {}).get(lang)


def _number_literals(part: Any, refs: Sequence[int]) -> None:
    """Replace the numbers of literals within the entry by their numbers in the pack."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key == "literals":
                part[key] = [refs[number] for number in value]
            elif isinstance(value, (dict, list)):
                _number_literals(value, refs)
    else:
        for item in part:
            if isinstance(item, (dict, list)):
                _number_literals(item, refs)


_FEW = 1024
"""If a table has at most this many bytes left to search, a row is looked for from the first byte to the last."""
_KEPT = 1024
"""This many look-ups in tables are kept, because a thousand logs of a scan fail in a few ways."""


MAX_KEPT_ENTRIES = 128
"""At most this many whole entries, with their texts, stay in memory: a scan of many logs meets most entries, in several
processes (docs/decisions/0002)."""


class Pack:
    """One compiled file. ``origin`` is shown when an entry of a later pack overrides an earlier one."""

    def __init__(self, path: Path, origin: str = "shipped", remake: Callable[[], object] | None = None) -> None:
        """``remake`` writes the file anew where it is damaged (see `Sealed`).

        Raises OSError when the file cannot be read (`kb.sealed.BrokenSeal`: is not what was written), ValueError when another
        version of the tool wrote it. What is read later raises `Damaged` too.
        """
        self.path = path
        self.origin = origin
        self._data = Sealed(path, remake)
        self._end = self._data.find(b"\n", 0)
        header = json.loads(self._data.read(0, self._end))
        if header.get("format") != FORMAT:
            raise ValueError(f"{path}: compiled by another version of the tool; delete it, it is made anew")
        self.segments: list[tuple[str, int]] = [(digest, count) for digest, count in header["segments"]]
        """The literals' segments. Each has a digest, under which anything made from it may be kept, and a size."""
        self.standing: list[str] = header["standing"]
        """Literals for which a place in the middle of a large log is read (`kb.standing`)."""
        self.date: str | None = header.get("date")
        """The day of the last recorded change of the entries (``2026-11-23``), where the pack was given one."""
        self._index: LiteralIndex | None = None
        self._base = 0  # the offset from which places in the index count
        self._bodies: dict[int, Body] = {}
        self._rows: dict[tuple[str, str], list[Any]] = {}

    @property
    def index(self) -> LiteralIndex:
        """The index, read when it is first asked for."""
        if self._index is None:
            end = self._data.find(b"\n", self._end + 1)
            self._base = end + 1
            self._index = LiteralIndex(json.loads(self._data.read(self._end + 1, end)), self._read)
        return self._index

    def body(self, number: int) -> Body:
        """The `MATCHED` part of an entry."""
        if (known := self._bodies.get(number)) is None:
            at, matched, texts, linked = self.index.place(number)
            known = json.loads(self._read(at, matched))
            added = json.loads(self._read(at + matched + texts + 2, linked))
            _number_literals(known["symptoms"], added["refs"])
            for symptom in added["strict"]:
                known["symptoms"][symptom]["strict"] = True
            self._bodies[number] = known
        return known

    def whole(self, number: int) -> Body:
        """The whole entry: texts in all languages and compiled symptoms."""
        at, matched, texts, linked = self.index.place(number)
        rest = json.loads(self._read(at + matched + 1, texts))
        added = json.loads(self._read(at + matched + texts + 2, linked))
        _number_literals([rest["fixes"], rest["advice"]], added["refs"])
        return {**self.body(number), **rest, "lookalikes": added["lookalikes"]}

    def parts(self, number: int) -> tuple[str, str]:
        """An entry's compiled parts before linking, as JSON: what is matched, and its texts."""
        at, matched, texts, _ = self.index.place(number)
        return self._read(at, matched).decode(), self._read(at + matched + 1, texts).decode()

    def table(self, name: str) -> bytes:
        """A whole table in its compiled form; empty if there is none."""
        return self._read(*self.index.tables[name]) if name in self.index.tables else b""

    def _read(self, start: int, length: int) -> bytes:
        return self._data.read(self._base + start, self._base + start + length)

    def rows(self, table: str, key: str) -> list[Any]:
        """Rows of a table (or of all tables of a prefix, ``api/parameters-*``) whose key column is ``key``."""
        if (known := self._rows.get((table, key))) is None:
            if len(self._rows) >= _KEPT:
                self._rows.clear()
            known = self._rows[table, key] = list(self._read_rows(table, key))
        return known

    def _read_rows(self, table: str, key: str) -> Iterator[Any]:
        wanted = b"\n" + json.dumps(key, ensure_ascii=False).encode() + b"\t"
        prefix = table[:-1] if table.endswith("*") else None
        for name, (start, length) in self.index.tables.items():
            if name != table and (prefix is None or not name.startswith(prefix)):
                continue
            end = self._base + start + length
            at = self._first_row(wanted, self._base + start, end)
            while at != -1:
                stop = self._data.find(b"\n", at + 1, end)
                yield json.loads(self._data.read(at + len(wanted), stop if stop != -1 else end))
                at = stop if stop != -1 and self._data.read(stop, stop + len(wanted)) == wanted else -1

    def _first_row(self, wanted: bytes, low: int, high: int) -> int:
        """The offset of the first row that starts with ``wanted``, -1 if there is none. Rows are sorted by their bytes."""
        end = high
        while high - low > _FEW:
            middle = self._data.rfind(b"\n", low, (low + high) // 2)
            if middle <= low:
                break
            if self._data.read(middle, middle + len(wanted)) < wanted:
                low = middle
            else:
                high = middle
        return self._data.find(wanted, low, min(high + len(wanted), end))

    def saying(self, word: str) -> list[int]:
        """The entries whose failures print the word (`kb.likeness`)."""
        return next(self._read_rows(WORDS, word), [])


class Knowledge:
    """Several packs as one. Literals are numbered from the first pack to the last, and a later pack overrides entries
    of an earlier one that have the same id."""

    def __init__(self, packs: Sequence[Pack]) -> None:
        self.packs = packs
        self.literal_count = 0
        self._first: list[int] = []
        self._found: dict[str, tuple[Body, int]] = {}
        shadowed: dict[str, int] = {}
        for number, pack in enumerate(packs):
            self._first.append(self.literal_count)
            self.literal_count += pack.index.count
            for id_ in pack.index.ids:
                shadowed[id_] = number
        self._owner = shadowed
        self._renamed = {alias: id_ for pack in packs for alias, id_ in pack.index.aliases}
        self.checked = {name: version for pack in packs for name, version in pack.index.checked.items()}

    @cached_property
    def literals(self) -> list[str]:
        return [text for pack in self.packs for text in pack.index.literals]

    @cached_property
    def with_digits(self) -> dict[int, str]:
        """The literals that contain digits, by number."""
        pairs = zip(self._first, self.packs, strict=True)
        return {first + number: text for first, pack in pairs for number, text in pack.index.with_digits.items()}

    def segments(self) -> Iterator[tuple[int, Callable[[], list[str]], str]]:
        """The literals' segments in the order of their numbers: the size, a function that returns the literals, and a
        digest."""
        for pack in self.packs:
            start = 0
            for digest, count in pack.segments:
                yield count, partial(pack.index.some_literals, start, start + count), digest
                start += count

    def triggered(self, literals: Iterable[int], pseudo: Iterable[str] = ()) -> Iterator[tuple[Body, int]]:
        """Entries that are worth trying, each with the number at which its pack's literals start."""
        for number, pack in enumerate(self.packs):
            index = pack.index
            first = self._first[number]
            last = first + index.count
            seen: set[int] = set()
            for literal in literals:
                if not first <= literal < last:
                    continue
                seen.update(index.owners(literal - first))
            for name in pseudo:
                seen.update(index.pseudo.get(name, ()))
            for entry in sorted(seen):
                if self._owner[index.ids[entry]] == number:
                    yield pack.body(entry), first

    def ids(self) -> list[str]:
        return sorted(self._owner)

    def find(self, id_: str) -> tuple[Body, int] | None:
        """A whole entry by its id, with the number at which its pack's literals start; None if there is no such entry."""
        id_ = self.resolve(id_)
        if (known := self._found.get(id_)) is None and (number := self._owner.get(id_)) is not None:
            pack = self.packs[number]
            if len(self._found) >= MAX_KEPT_ENTRIES:
                self._found.clear()
            known = self._found[id_] = pack.whole(pack.index.by_id[id_]), self._first[number]
        return known

    def resolve(self, id_: str) -> str:
        """The id of today for an earlier one; any other id as it is."""
        return id_ if id_ in self._owner else self._renamed.get(id_, id_)

    def renamed(self, alias: str) -> set[str]:
        """The entries that have had this id."""
        return {id_ for pack in self.packs for earlier, id_ in pack.index.aliases if earlier == alias}

    def successor(self, id_: str) -> str | None:
        """The entry that replaces a retired one; None for an entry that is not retired."""
        pack = self.owner(id_)
        return pack.index.retired.get(id_) if pack is not None else None

    def need(self, id_: str) -> tuple[Body, int]:
        """The result of `find`. Raises `kb.errors.UsageError`, which names the nearest known id, if there is no such
        entry."""
        if (found := self.find(id_)) is not None:
            return found
        from kb.errors import UsageError
        from kb.nearest import did_you_mean

        raise UsageError(f"no entry {id_!r}; {did_you_mean(id_, self._owner, 'see: troubleshoot list')}")

    def listing(self) -> list[Listed]:
        """The data with which a list shows all entries, by id."""
        found = [
            told
            for number, pack in enumerate(self.packs)
            for told in pack.index.listing()
            if self._owner[told.id] == number
        ]
        return sorted(found)

    def owner(self, id_: str) -> Pack | None:
        """The pack from which the entry of this id is taken."""
        number = self._owner.get(id_)
        return None if number is None else self.packs[number]

    def bodies(self) -> Iterator[Body]:
        for id_ in self.ids():
            found = self.find(id_)
            assert found is not None
            yield found[0]

    def overridden(self) -> list[str]:
        """The ids of entries in an earlier pack that a later one replaces."""
        taken: set[str] = set()
        for number, pack in enumerate(self.packs):
            taken.update(i for i in pack.index.ids if self._owner[i] != number)
        return sorted(taken)

    def rows(self, table: str, key: str) -> Iterator[dict[str, Any]]:
        for pack in reversed(self.packs):
            yield from pack.rows(table, key)
