"""Which entries a package's newest release concerns: those whose words it no longer prints."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from kb.index.fit import fit, plain
from kb.index.make.link import LinkedMessage
from kb.load import Loaded

LEAST_LETTERS = 12
"""Least letters that a sample's line and a message must share: a mark such as ``E`` in front of a line says nothing."""
LEAST_SHARE = 0.5
"""Least share of a sample's line that must be the message's own text."""


class ConcernedEntry(NamedTuple):
    """An entry that a sample line ties to a vanished message; ``replaced`` is the text that took its place, if any did."""

    entry: str
    line: str
    replaced: str | None


def concerned(
    vanished: Sequence[LinkedMessage], items: Iterable[Loaded], printed: Collection[str]
) -> Iterator[ConcernedEntry]:
    """The entries among ``printed`` (the ids of those whose words the package prints) that quote a vanished message.

    A message that was reworded needs another pattern in its entry. One that went without a successor is often repaired: then
    the entry's range ends before this release.
    """
    for item in items:
        if item.entry.id not in printed:
            continue
        lines = {plain(line) for sample in item.samples_of("match") for line in sample.text.splitlines()}
        texts = sorted({text for line in lines for text in (line, line.partition(": ")[2]) if text})
        for message in vanished:
            found = next((text for text in texts if _is(text, message)), None)
            if found is not None:
                yield ConcernedEntry(item.entry.id, found, message.replaced)


def _is(text: str, message: LinkedMessage) -> bool:
    agreed = fit(text, message.literals)
    least = max(LEAST_LETTERS, LEAST_SHARE * len(text.replace(" ", "")))
    return agreed is not None and agreed.quality >= least
