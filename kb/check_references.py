"""Checks of what an entry refers to: other entries, tables, and ids that it had before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from kb.load import Library, Loaded, conditions
from kb.nearest import did_you_mean
from kb.problem import Problem


class KnownNames(Protocol):
    """Everything that entries may refer to: all entries and tables that are loaded with them."""

    def entry(self, id_: str) -> bool: ...

    def successor(self, id_: str) -> str | None:
        """The entry that replaces a retired one; None for an entry that is not retired."""
        ...

    def renamed(self, alias: str) -> set[str]:
        """The entries that name this id among their aliases."""
        ...

    def table(self, name: str) -> bool:
        """Whether there is a table of this name, or with ``*`` at the end one that begins so."""
        ...

    def names(self) -> Iterable[str]:
        """Ids and tables, for "did you mean"."""
        ...


@dataclass(frozen=True, slots=True)
class OfLibrary:
    """What a library holds by itself."""

    library: Library

    def entry(self, id_: str) -> bool:
        return id_ in self.library.entries

    def successor(self, id_: str) -> str | None:
        item = self.library.entries.get(id_)
        return item.entry.replaced_by if item is not None else None

    def renamed(self, alias: str) -> set[str]:
        return {id_ for id_, item in self.library.entries.items() if alias in item.entry.aliases}

    def table(self, name: str) -> bool:
        return any(fits_table(name, table) for table in self.library.tables)

    def names(self) -> Iterable[str]:
        return [*self.library.entries, *self.library.tables]


def fits_table(asked: str, name: str) -> bool:
    """True if a table has the wanted name; ``*`` at the end of ``asked`` matches any ending."""
    return name.startswith(asked[:-1]) if asked.endswith("*") else name == asked


def references(item: Loaded, known: KnownNames) -> Iterator[Problem]:
    entry = item.entry
    named: list[tuple[tuple[str | int, ...], str]] = [
        (("not_to_confuse_with", i, "entry"), other.entry) for i, other in enumerate(entry.not_to_confuse_with)
    ]
    named += [(("overlaps", i, "entry"), other.entry) for i, other in enumerate(entry.overlaps)]
    named += [(("fallback_for", i), other) for i, other in enumerate(entry.fallback_for or [])]
    if entry.variant_of:
        named.append((("variant_of",), entry.variant_of))
    if entry.replaced_by:
        named.append((("replaced_by",), entry.replaced_by))
    for place, other in named:
        if not known.entry(other):
            yield item.document.problem(place, f"names no entry: {other!r}", _near(other, known.names()))
        elif other == entry.id:
            yield item.document.problem(place, "names the entry itself", "take it out")
        elif (successor := known.successor(other)) is not None:
            yield item.document.problem(place, f"names the retired entry {other!r}", f"name its successor: {successor}")
    for place, condition in conditions(entry):
        table = getattr(condition, "row", None)
        if table and not known.table(table):
            yield item.document.problem((*place, "row"), f"names no table: {table!r}", _near(table, known.names()))


def aliases(item: Loaded, known: KnownNames) -> Iterator[Problem]:
    """An earlier id leads to one entry only."""
    for number, alias in enumerate(item.entry.aliases):
        others = sorted(known.renamed(alias) - {item.entry.id})
        if known.entry(alias):
            yield item.document.problem(("aliases", number), f"is an entry's id: {alias!r}", "take it out")
        elif others or item.entry.aliases.index(alias) != number:
            text = f"{alias!r} is an alias of {others[0]} too" if others else f"{alias!r} is listed twice"
            yield item.document.problem(("aliases", number), text, "keep it once")


def _near(word: str, known: Iterable[str]) -> str:
    return did_you_mean(word, known, "write that entry first, or take the name out")
