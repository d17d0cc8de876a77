"""Write a message into the index and read it again. A message is a short JSON list; many are compressed in one block."""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Sequence
from typing import Any, NamedTuple

from kb.index.place import Binding, Guard, GuardKind, Hole, MessagePlace, Parameter

FORMAT = 3
"""The version of the file's form. Raise it if older releases cannot read what is written now."""
BLOCK_MESSAGES = 48
"""Messages that are packed together. More of them are smaller and take longer to read (docs/decisions/0050)."""
HEAD, TAIL = slice(0, 4), slice(4, 7)
"""The two parts of a message: the head finds it (kind, exception, level, text), the tail holds everything else."""
MOST_EARLY = 3
"""The index keeps at most this many guards of the kind ``early`` for one place, the nearest ones."""
MOST_GUARDS_OF_LOGS = 2
"""A log or print keeps only this many guards, the nearest ones, and neither parameters nor bindings."""
MOST_SITES = 4
"""One message keeps at most this many places, the latest ones."""
MOST_CONDITION = 180
MOST_EXPRESSION = 80
MOST_BINDINGS = 4
_LETTERS: dict[str, tuple[GuardKind, bool]] = {
    "i": ("if", True), "e": ("else", False), "y": ("early", True), "n": ("early", False), "a": ("assert", False),
    "c": ("check", False), "w": ("while", True), "f": ("for", True), "t": ("try", True), "x": ("except", True),
    "m": ("case", True),
}  # fmt: skip
_BY_GUARD = {guard: letter for letter, guard in _LETTERS.items()}
_STALE = "~"

Row = list[Any]
Spans = tuple[tuple[int, int], ...]


class StoredSite(NamedTuple):
    """One place of a stored message, as the last release that has it shows it."""

    file: str
    function: str
    line: int
    """The line in the last release that has the place."""
    expressions: tuple[str, ...]
    """The expression of each hole."""
    guards: tuple[Guard, ...]
    """Without lines (0); at most `MOST_EARLY` of the kind ``early``."""
    parameters: tuple[Parameter, ...]
    """The function's parameters that the guards, the holes and the bindings use."""
    bindings: tuple[Binding, ...]
    """Without lines (0)."""
    spans: Spans


class Head(NamedTuple):
    """The part of a message by which it is found."""

    kind: str
    exception: str | None
    level: str | None
    literals: tuple[str | None, ...]
    """The text; None is a hole."""


class Tail(NamedTuple):
    """The part of a message that describes it."""

    spans: Spans
    replaced: str | None
    sites: tuple[StoredSite, ...]


def site_row(place: MessagePlace, spans: Sequence[tuple[int, int]], *, brief: bool = False) -> Row:
    """One place as it is stored; ``brief``: without parameters and bindings."""
    from kb.index.scope import names_in  # needed to write only

    if brief:
        place = place._replace(parameters=(), bindings=())
    if place.kind in ("log", "print"):
        place = place._replace(guards=place.guards[-MOST_GUARDS_OF_LOGS:], parameters=(), bindings=())
    early = [guard for guard in place.guards if guard.kind == "early"][-MOST_EARLY:]
    guards = [guard for guard in place.guards if guard.kind != "early" or any(guard is kept for kept in early)]
    holes = [_cut(piece.expression, MOST_EXPRESSION) for piece in place.template if isinstance(piece, Hole)]
    bindings = [(item.name, _cut(item.expression, MOST_EXPRESSION)) for item in place.bindings[:MOST_BINDINGS]]
    spoken = {name.split(".")[0] for guard in guards for name in names_in(guard.condition)}
    spoken |= {name.split(".")[0] for text in (*holes, *(text for _, text in bindings)) for name in names_in(text)}
    # If the parameters are the fields of a dataclass, `self.beta` names the field `beta`.
    spoken |= {name.split(".")[1] for guard in guards for name in names_in(guard.condition) if name.startswith("self.")}
    parameters = [
        [item.name, _short(item.default), _short(item.annotation)]
        for item in place.parameters
        if item.name.lstrip("*") in spoken
    ]
    return [
        place.path, place.function, place.line, holes, [_guard_text(guard) for guard in guards], parameters,
        [list(item) for item in bindings], [list(span) for span in spans],
    ]  # fmt: skip


def pack(rows: Sequence[Row], dictionary: bytes) -> bytes:
    """Rows as one block."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=dictionary)
    return (
        packer.compress(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))
        + packer.flush()
    )


def unpack(block: bytes, dictionary: bytes) -> list[Row]:
    """The rows of a block."""
    unpacker = zlib.decompressobj(-15, zdict=dictionary)
    return json.loads(unpacker.decompress(block) + unpacker.flush())  # type: ignore[no-any-return]


def head(row: Row) -> Head:
    """The first part of a stored message."""
    kind, exception, level, literals = row
    return Head(kind, exception or None, level or None, tuple(None if piece == 0 else str(piece) for piece in literals))


def tail(row: Row) -> Tail:
    """The second part of a stored message."""
    spans, replaced, sites = row
    return Tail(_spans(spans), replaced or None, tuple(_site(item, _spans(spans)) for item in sites))


def little_endian(numbers: array[int]) -> bytes:
    """Numbers as bytes, the lowest byte first on every machine."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def numbers(data: bytes, kind: str = "I") -> array[int]:
    """Numbers of a kind of `array` from the bytes of `little_endian`."""
    found = array(kind, data)
    if sys.byteorder == "big":
        found.byteswap()
    return found


def _site(row: Row, spans: Spans) -> StoredSite:
    file, function, line, holes, guards, parameters, bindings, own = row
    return StoredSite(
        file, function, line, tuple(holes), tuple(_guard(text) for text in guards),
        tuple(Parameter(name, default, annotation) for name, default, annotation in parameters),
        tuple(Binding(name, expression, 0) for name, expression in bindings), _spans(own) or spans,
    )  # fmt: skip


def _spans(rows: Sequence[Sequence[int]]) -> Spans:
    return tuple((begin, end) for begin, end in rows)


def _guard_text(guard: Guard) -> str:
    letter = _BY_GUARD[guard.kind, guard.holds]
    return (_STALE if guard.stale else "") + letter + _cut(guard.condition, MOST_CONDITION)


def _guard(text: str) -> Guard:
    stale = text.startswith(_STALE)
    text = text.removeprefix(_STALE)
    kind, holds = _LETTERS[text[0]]
    return Guard(kind, text[1:], holds, 0, stale)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _short(text: str | None) -> str | None:
    return None if text is None else _cut(text, MOST_EXPRESSION)
