"""Look up messages in the shipped index: ``find`` a printed message, or list the messages of a function (``at``).

The index is one SQLite file in the package. It is opened read-only at the first question and never unpacked. A question reads
only the few compressed blocks that contain a word of the message.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from kb import lazy
from kb.index.fit import Fit, fit, plain
from kb.index.message import IndexedMessage, IndexUnreadable, PackageMessages, ReleaseChanges
from kb.index.place import Hole, Piece
from kb.index.places_of_words import PlacesOfWords
from kb.index.record import BLOCK_MESSAGES, FORMAT, Head, Row, StoredSite, Tail, head, tail, unpack
from kb.index.words import asked, check, number

FILE = Path(__file__).parent.parent / "data" / "messages.sqlite"
MANIFEST = Path(__file__).parent / "make" / "manifest.json"
MAX_MESSAGE = 8_000
"""Only this many characters of a printed message are compared."""
MAX_BLOCKS = 24
"""One question reads at most this many blocks, those with the rarest words of the message first."""
SPECIFIC, SPECIFIC_INSIDE, SPECIFIC_KNOWN = 12, 20, 6
"""The least number of literal characters that must agree: if the printed text is the whole message, if the message is cut or
inside other text, and if the place is in the function that raised. With fewer, a text such as "index out of range" would fit
places everywhere."""
COVERED = 0.25
"""The literal text of the template must be at least this share of the message, unless the function agrees."""


PYTHONS_OWN = lazy.compile(
    r"'?[\w.]+'? object (?:has no attribute|is not|does not support|cannot be)(?: |$)|module '[\w.]+' has no attribute |"
    r"type object '[\w.]+' has no |\[Errno \d+\] |\[WinError |name '\w+' is not defined|unsupported operand type|"
    r"[\w.<>]+\(\) (?:got an unexpected|missing \d+|takes (?:no|\d|from)|got multiple)|cannot import name |No module named |"
    r"(?:list|tuple|string) ind(?:ex out of range|ices must be integers)|division by zero|maximum recursion depth|(?:too many|not enough) values to unpack|"
    r"object of type '[\w.]+' has no len|cannot unpack non-iterable|is(?:instance|subclass)\(\) arg|argument of type '[\w.]+' is not|"
    r"local variable '|cannot access (?:local|free) variable"
)
"""Messages of Python itself. Libraries imitate some of them, so a place counts only if its function agrees."""


_SEARCHED = lazy.compile(r"[\w.]+")
MAX_SEARCHED = 24
"""A search uses only this many words."""
LEAST_SEARCHED = 0.7
"""A message must contain at least this share of the words."""


class MessageIndex:
    """An open index."""

    def __init__(self, path: Path) -> None:
        try:
            self._base = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
            )
            [form] = self._base.execute("pragma user_version").fetchone()
            if form != FORMAT:
                raise IndexUnreadable(f"{path}: an index of form {form}, this release reads {FORMAT}; install it again")
            self._dictionaries = self._base.execute("select head, tail from dictionary").fetchone()
            rows = self._base.execute(
                "select name, part_of, modules, releases, blocks from package order by id"
            ).fetchall()
        except sqlite3.Error as error:
            raise IndexUnreadable(
                f"{path}: no readable index of messages ({error}); install the package again"
            ) from error
        self._releases = {name: releases.split() for name, _, _, releases, _ in rows}
        self._known = {name: part_of for name, part_of, *_ in rows}
        self._package = {module: part_of for _, part_of, modules, *_ in rows for module in modules.split()}
        self._owner = [name for name, *_, blocks in rows for _ in range(blocks)]
        self._places = PlacesOfWords(self._base)
        self._find = lru_cache(maxsize=64)(self._look_up)  # dating and explaining ask for the same messages
        self._heads = lru_cache(maxsize=64)(self._read_heads)
        self._tails = lru_cache(maxsize=16)(self._read_tails)

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    def releases(self, package: str) -> Sequence[str]:
        """The releases of a package that the index read, oldest first; empty for a package that it does not know."""
        name = self.package(package)
        return self._releases.get(name, ()) if name else ()

    def package(self, name: str) -> str | None:
        """The package of the index for a package's or a top-level module's name (``swift`` is ``ms-swift``), or None."""
        return name if name in self._known.values() else self._package.get(name)

    def packages(self) -> Sequence[str]:
        """The names of all packages."""
        return tuple(dict.fromkeys(self._known.values()))

    def find(
        self, text: str, exception: str | None = None, package: str | None = None, function: str | None = None
    ) -> list[IndexedMessage]:
        """The messages that may have printed the text, best first.

        ``exception``: only places that raise a class of this name (without its module), or whose class is not known; no logs
        and prints. ``package``: only messages of this package, or of the package of this module. ``function``: the function
        that raised, without its class; places in it come first, and fewer of their characters need to agree.
        """
        return list(self._find(text[:MAX_MESSAGE], exception, package, function))

    def _look_up(
        self, text: str, exception: str | None, package: str | None, function: str | None
    ) -> tuple[IndexedMessage, ...]:
        wanted = plain(text)
        name = exception.rpartition(".")[2] if exception else None
        inner = function.rpartition(".")[2] if function else None
        only = self.package(package) if package else None
        if package and only is None:
            return ()
        own = PYTHONS_OWN.match(wanted) is not None
        found: list[IndexedMessage] = []
        for slot in self._candidates(wanted, only):
            owner, stored = self._head(slot)
            if not _can_raise(stored, name):
                continue
            agreed = fit(wanted, stored.literals)
            if agreed is None or agreed.quality < SPECIFIC_KNOWN:
                continue
            if inner is None and (own or not _specific(agreed, wanted)):
                continue
            told = self._tail(slot)
            here = [site for site in told.sites if inner and site.function.rpartition(".")[2] == inner]
            if here or (_specific(agreed, wanted) and not own):
                found.append(self._found(owner, stored, told, agreed, here))
        found.sort(key=lambda item: (not item.in_function, item.extent != "whole", -item.quality))
        return tuple(found)

    def at(self, file: str, function: str | None = None) -> list[IndexedMessage]:
        """All messages of one file (``transformers/trainer.py``), or of one function in it (its name without the class)."""
        inner = function.rpartition(".")[2] if function else None
        found: list[IndexedMessage] = []
        for block, _ in self._places.of("file", number(file)):
            for slot in range(block * BLOCK_MESSAGES, block * BLOCK_MESSAGES + len(self._heads(block))):
                told = self._tail(slot)
                here = [
                    site
                    for site in told.sites
                    if site.file == file and inner in (None, site.function.rpartition(".")[2])
                ]
                if here:
                    owner, stored = self._head(slot)
                    found.append(self._found(owner, stored, told, Fit(0, "whole", ()), here))
        return found

    def search(self, words: str, most: int = 8) -> list[IndexedMessage]:
        """The messages that contain most of the words, and those that may have printed them as one text, best first.

        This reads the heads of all messages, which takes some tenths of a second. Texts of compiled libraries come last.
        """
        searched = [
            word for found in _SEARCHED.findall(words) if (word := found.rstrip("."))
        ]  # a sentence ends with a dot
        asked_ = list(dict.fromkeys(word.lower() for word in searched[:MAX_SEARCHED]))
        found = self.find(words)[:most]
        scored: list[tuple[float, bool, int, int]] = []
        for slot, owner, stored in self._all() if asked_ else ():
            text = f"{owner} {' '.join(filter(None, stored.literals))}".lower()
            share = sum(word in text for word in asked_) / len(asked_)
            if share >= LEAST_SEARCHED:
                scored.append((-share, stored.kind == "compiled", len(text), slot))
        known = {(one.package, one.template) for one in found}
        for *_, slot in heapq.nsmallest(most, scored):
            one = self._message(slot)
            if (one.package, one.template) not in known and len(found) < most:
                found.append(one)
        return found

    def of_package(self, package: str, words: str = "") -> PackageMessages:
        """The messages of a package's Python files that contain all of the words, in the order of the index."""
        asked_ = [word.lower() for word in words.split()[:MAX_SEARCHED]]
        slots = []
        for slot, owner, stored in self._all(package):
            text = " ".join(filter(None, stored.literals)).lower()
            if self._known[owner] == package and stored.kind != "compiled" and all(word in text for word in asked_):
                slots.append(slot)
        return PackageMessages(self._message, slots)

    def changes(self, package: str) -> list[ReleaseChanges]:
        """For each release of a package but the first: the number of messages that are new in it, and of those that vanished."""
        names = self.releases(package)
        arrived, vanished = [0] * (len(names) + 1), [0] * (len(names) + 1)
        for slot, owner, stored in self._all(package):
            if owner == package and stored.kind != "compiled":
                for begin, end in self._tail(slot).spans:
                    arrived[begin] += 1
                    vanished[end + 1] += 1
        return [ReleaseChanges(names[n], arrived[n], vanished[n]) for n in range(1, len(names))]

    def _all(self, package: str | None = None) -> Iterator[tuple[int, str, Head]]:
        """The slot, the owning package and the head of all messages, or of those of one package."""
        for block, owner in enumerate(self._owner):
            if package is None or self._known[owner] == package:
                for at, row in enumerate(self._read_heads(block)):
                    yield block * BLOCK_MESSAGES + at, owner, head(row)

    def _message(self, slot: int) -> IndexedMessage:
        owner, stored = self._head(slot)
        return self._found(owner, stored, self._tail(slot), Fit(0, "whole", ()), [])

    def every(self) -> Iterator[IndexedMessage]:
        """All messages of the index, package by package."""
        for block in range(len(self._owner)):
            for slot in range(block * BLOCK_MESSAGES, block * BLOCK_MESSAGES + len(self._heads(block))):
                owner, stored = self._head(slot)
                yield self._found(owner, stored, self._tail(slot), Fit(0, "whole", ()), [])

    def _candidates(self, text: str, package: str | None) -> list[int]:
        """The slots of messages that have an anchor in the text."""
        words = asked(text)
        close = {0, *map(check, words)}
        rarity: dict[int, int] = {}
        for word in words:
            places = self._places.of("word", word)
            for slot, second in places:
                if second in close:
                    rarity[slot] = min(len(places), rarity.get(slot, len(places)))
        blocks: dict[int, None] = {}
        # The fewer messages a word is an anchor of, the more it says.
        for slot in sorted(rarity, key=lambda slot: (rarity[slot], slot)):
            block = slot // BLOCK_MESSAGES
            if package is None or self._known[self._owner[block]] == package:
                blocks[block] = None
            if len(blocks) == MAX_BLOCKS:
                break
        return sorted(slot for slot in rarity if slot // BLOCK_MESSAGES in blocks)

    def _head(self, slot: int) -> tuple[str, Head]:
        block = slot // BLOCK_MESSAGES
        return self._owner[block], head(self._heads(block)[slot % BLOCK_MESSAGES])

    def _tail(self, slot: int) -> Tail:
        return tail(self._tails(slot // BLOCK_MESSAGES)[slot % BLOCK_MESSAGES])

    def _read_heads(self, block: int) -> list[Row]:
        [data] = self._base.execute("select head from block where id = ?", (block,)).fetchone()
        return unpack(data, self._dictionaries[0])

    def _read_tails(self, block: int) -> list[Row]:
        [data] = self._base.execute("select tail from block where id = ?", (block,)).fetchone()
        return unpack(data, self._dictionaries[1])

    def _found(self, package: str, stored: Head, told: Tail, agreed: Fit, here: list[StoredSite]) -> IndexedMessage:
        releases = self._releases[package]
        sites = (*here, *(site for site in told.sites if site not in here))
        expressions = sites[0].expressions
        filled = dict(enumerate(expressions))
        pieces: list[Piece] = []
        holes = 0
        for piece in stored.literals:
            pieces.append(Hole(filled.get(holes, "")) if piece is None else piece)
            holes += piece is None
        return IndexedMessage(
            self._known[package], stored.kind, stored.exception, stored.level, tuple(pieces), agreed.quality, agreed.extent,
            tuple(zip(expressions, agreed.values, strict=False)), sites, bool(here),
            tuple((releases[begin], releases[end]) for begin, end in told.spans),
            not releases or told.spans[0][0] == 0, not releases or told.spans[-1][1] == len(releases) - 1, told.replaced,
        )  # fmt: skip


def _can_raise(stored: Head, exception: str | None) -> bool:
    if exception is None:
        return True
    if stored.exception is not None:
        return stored.exception.rpartition(".")[2] == exception
    return stored.kind in ("raise", "check", "compiled")


def _specific(agreed: Fit, text: str) -> bool:
    least = SPECIFIC if agreed.extent == "whole" else SPECIFIC_INSIDE
    return agreed.quality >= least and agreed.quality >= COVERED * len(text.replace(" ", ""))


@lru_cache(maxsize=1)
def shipped(path: Path = FILE) -> MessageIndex:
    """The index that this package ships. Raises `IndexUnreadable`."""
    if not path.exists():
        raise IndexUnreadable(f"{path}: the index of messages is missing; install the package again")
    return MessageIndex(path)


def manifest() -> dict[str, Any]:
    """What the shipped index was made from: counts in all and by package, and what was left out. Raises `IndexUnreadable`."""
    try:
        read: dict[str, Any] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise IndexUnreadable(f"{MANIFEST}: no readable manifest ({error}); install the package again") from error
    return read


def find(
    text: str, exception: str | None = None, package: str | None = None, function: str | None = None
) -> list[IndexedMessage]:
    """`MessageIndex.find` in the shipped index."""
    return shipped().find(text, exception, package, function)
