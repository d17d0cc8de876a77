"""Link the units of all entries into the bytes of one pack (`kb.compiled`).

Linking computes everything that depends on all entries together: the numbers of the literals, the entries that each literal
triggers, the words that several entries share, relations between entries, and the table of words. The entries themselves are
copied unchanged, so a changed entry costs the compilation of one unit and one link.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kb import search
from kb.compile.entry import Unit
from kb.compile.tables import sorted_rows
from kb.compiled import FORMAT, WORDS
from kb.literal_index import numbers

SHARED_BY = 4
"""A word counts as shared if at least this many entries have it."""
MAX_SINGLE_LOOKUPS = 100
"""Words up to which looking through all literals for each is cheaper than an index of the literals."""
END = 6
"""Characters at a word's end by which the literals that may contain it are looked up."""
MAX_ADDED = 2000
"""Literals behind the first segment from which on all literals are numbered anew."""


def link(
    units: Sequence[Unit],
    tables: Mapping[str, bytes],
    checked: dict[str, str],
    *,
    known: Sequence[str] = (),
    before: Mapping[str, bool] | None = None,
    touched: Collection[str] = (),
    kept: Kept | None = None,
    date: str | None = None,
) -> bytes:
    """The pack of these units, which come in the order of their ids.

    ``known``: the literals of the first segment of an earlier pack of the same folder, in its order. They keep their numbers,
    so that databases compiled from them stay valid; new literals follow in a second segment. ``kept``: what the next
    compilation of the folder reuses. The shared words are written beside it; the next link gets them as ``before``, together
    with ``touched``, the literals of all entries that changed since. A pack with ``kept`` has no index for searches, only the terms
    for one, because building it takes half a second and the next diagnosis does not need it. ``date``: the day of the last
    recorded change of the entries (``2026-11-23``), if it is known.
    """
    names, segments = _literal_names(units, known)
    by_name = {text: number for number, text in enumerate(names)}
    owners: list[list[int]] = [[] for _ in names]
    signals: dict[str, list[int]] = {}
    refs = [[by_name[text] for text in unit.literals] for unit in units]
    for entry, unit in enumerate(units):
        for literal in unit.triggers:
            owners[refs[entry][literal]].append(entry)
        for name in unit.signals:
            signals.setdefault(name, []).append(entry)
    shared = _shared_words(units, names, owners, before or {}, touched)
    relations = _symmetric(units)

    body = _Body()
    places: list[int] = []
    for entry, unit in enumerate(units):
        linked = _linked(refs[entry], _strict(unit, shared), relations[unit.id])
        parts = [body.add(part.encode()) for part in (unit.matched, unit.texts, linked)]
        places += [parts[0][0], *(length for _, length in parts)]
    starts, flat = [0], list[int]()
    for literal in range(len(names)):
        flat += owners[literal]
        starts.append(len(flat))
    words = _words(units)
    placed = {name: body.add(blob) for name, blob in ((WORDS, words), *sorted(tables.items())) if blob}
    sections = {
        name: body.add(numbers(given)) for name, given in (("starts", starts), ("owners", flat), ("places", places))
    }
    digits = {number: text for number, text in enumerate(names) if re.search("[0-9]", text)}
    sections["literals"] = body.add(_json(names).encode())
    sections["listing"] = body.add(_json([unit.listed for unit in units]).encode())
    sections["digits"] = body.add(_json(digits).encode())
    if kept is not None:
        related = {id_: lookalikes for id_, lookalikes in relations.items() if any(lookalikes.values())}
        sections["terms"] = body.add(_lines([_json(related), *(unit.search for unit in units)]))
        sections["kept"] = body.add(_lines([_json({"tables": kept.tables, "shared": shared}), *kept.rows]))
    else:
        entries = {unit.id: search.Terms(*json.loads(unit.search)) for unit in units}
        sections["search"] = body.add(_json(search.encode(entries, relations)).encode())
    standing = sorted({text for unit in units for text in unit.standing})
    header = {"format": FORMAT, "segments": segments, "standing": standing, "date": date}
    index = {
        "count": len(names), "sections": sections, "checked": checked, "tables": placed,
        "pseudo": dict(sorted(signals.items())), "ids": [unit.id for unit in units],
        "aliases": [(alias, unit.id) for unit in units for alias in unit.aliases],
        "retired": {unit.id: unit.replaced_by for unit in units if unit.replaced_by is not None},
    }  # fmt: skip
    return b"\n".join([_json(header).encode(), _json(index).encode(), *body.parts]) + b"\n"


@dataclass(frozen=True)
class Kept:
    """What the pack of a folder keeps for the next compilation of the folder."""

    tables: Mapping[str, str]
    """By table, what tells whether its file changed."""
    rows: Sequence[str]
    """By unit, a line of JSON: the unit, and what tells whether its entry changed. Lines of unchanged entries are copied from
    pack to pack, because writing 10,000 of them anew takes a quarter of a link."""


class _Body:
    """The parts behind the index."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._at = 0

    def add(self, part: bytes) -> tuple[int, int]:
        """The offset of the part, and its length."""
        at = self._at
        self.parts.append(part)
        self._at += len(part) + 1
        return at, len(part)


_json = json.JSONEncoder(ensure_ascii=False).encode


_UNRELATED = _json({"confused": [], "overlaps": []})


def _linked(refs: list[int], strict: list[int], lookalikes: Mapping[str, list[Any]]) -> str:
    """JSON of what linking adds to an entry. Python writes lists of integers as JSON does, and starting the encoder for each of
    10,000 entries takes a tenth of a link."""
    related = _json(lookalikes) if any(lookalikes.values()) else _UNRELATED
    return f'{{"refs": {refs}, "strict": {strict}, "lookalikes": {related}}}'


def _lines(texts: Iterable[str]) -> bytes:
    return "\n".join(texts).encode()


def _literal_names(units: Sequence[Unit], known: Sequence[str]) -> tuple[list[str], list[tuple[str, int]]]:
    """The literals in the order of their numbers, and their segments: a digest of each, and how many it holds."""
    wanted = dict.fromkeys(text for unit in units for text in unit.literals)
    numbered = set(known)
    added = [text for text in wanted if text not in numbered]
    gone = len(known) + len(added) - len(wanted)
    if not known or len(added) + gone > MAX_ADDED:
        return list(wanted), [_segment(list(wanted))]
    first = list(known)
    return [*first, *added], [_segment(first), *([_segment(added)] if added else [])]


def _segment(names: Sequence[str]) -> tuple[str, int]:
    return hashlib.blake2b("\0".join(names).encode(), digest_size=16).hexdigest(), len(names)


def _strict(unit: Unit, shared: Mapping[str, bool]) -> list[int]:
    """The symptoms whose words do not tell them from other entries. What else these ask must really be seen.

    Words that several entries have ("cannot import name") say little; a frame or version that a paste lacks may not be
    passed over with them. A symptom without words is strict.
    """
    return [number for number, literals in unit.shareable if all(shared[unit.literals[n]] for n in literals)]


def _shared_words(
    units: Sequence[Unit],
    names: Sequence[str],
    owners: Sequence[Sequence[int]],
    before: Mapping[str, bool],
    touched: Collection[str],
) -> dict[str, bool]:
    """By word of a symptom that may be strict: whether several entries have it.

    ``before``: the answers of the last link, which still hold for a word that is part of none of the ``touched`` literals.
    """
    asked = {unit.literals[n] for unit in units for _, literals in unit.shareable for n in literals}
    out = {word: before[word] for word in asked if word in before and not any(word in text for text in touched)}
    missing = asked - out.keys()
    if len(missing) > MAX_SINGLE_LOOKUPS:
        holders = _holders(missing, names)
    else:
        holders = {word: [number for number, name in enumerate(names) if word in name] for word in missing}
    for word in missing:
        owning: set[int] = set()
        for number in holders[word]:
            owning.update(owners[number])
            if len(owning) >= SHARED_BY:
                break
        out[word] = len(owning) >= SHARED_BY
    return out


def _holders(words: Collection[str], names: Sequence[str]) -> dict[str, list[int]]:
    """By word, the literals that contain it; literals are looked up by the words' ends."""
    by_end: dict[str, list[int]] = {word[-END:]: [] for word in words}
    for length in sorted({len(end) for end in by_end}):
        for number, name in enumerate(names):
            for end in {name[i : i + length] for i in range(len(name) - length + 1)} & by_end.keys():
                by_end[end].append(number)
    return {word: [number for number in by_end[word[-END:]] if word in names[number]] for word in words}


def _symmetric(units: Sequence[Unit]) -> dict[str, dict[str, Any]]:
    """Relations are declared once, by the newer entry; both sides know them."""
    out: dict[str, dict[str, Any]] = {unit.id: {"confused": [], "overlaps": []} for unit in units}
    for unit in units:
        for item in unit.confused:
            out[unit.id]["confused"].append(item)
            if item["entry"] in out:
                out[item["entry"]]["confused"].append({**item, "entry": unit.id})
        for other in unit.overlaps:
            out[unit.id]["overlaps"].append(other)
            if other in out:
                out[other]["overlaps"].append(unit.id)
    return out


def _words(units: Sequence[Unit]) -> bytes:
    """The table of words: by word, the entries of which a failure prints it."""
    owners: dict[str, list[str]] = {}
    for entry, unit in enumerate(units):
        number = str(entry)
        for word in unit.words:
            owners.setdefault(word, []).append(number)
    return sorted_rows(f"{_json(word)}\t[{', '.join(found)}]" for word, found in owners.items())
