"""All places of the index of messages, and which of them can print what a pattern matches."""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import re2

from kb.index.fit import fit
from kb.index.message import IndexedMessage
from kb.index.place import Hole
from kb.index.record import StoredSite
from kb.index.store import MessageIndex
from kb.patterns import required_texts

FILLERS = (
    "x", "7", "torch.float32", "'x'", "[1, 2]", "a b", "model.layers.0.weight", "LlamaModel", "", "0.5", "/tmp/x.json",
    "cuda:0", "{'x': 1}", "(3, 4)", "True", "1.2.3", "torch.Size([2, 3, 4])",
)  # fmt: skip
"""Values for the holes of a template, one of each kind that messages print."""
MAX_FILLINGS = 60
"""A template is tried with this many random combinations of values, and with each value in all holes."""
MOST_CANDIDATES = 4000
"""A pattern that may fit more templates than this has no words of its own."""
_SPACE = re.compile(r"\s+")
HOLE_MARK = "\0"


class Printer(NamedTuple):
    """One message of the index, with what is needed to ask whether it prints a pattern's words."""

    message: IndexedMessage
    literals: tuple[str | None, ...]

    @property
    def guards(self) -> frozenset[str]:
        """The nearest condition of each of its places."""
        return frozenset(_nearest(site) for site in self.message.sites) - {""}

    def can_print(self, pattern: str) -> bool:
        """Whether the pattern matches the message with some values in its holes."""
        return _prints(self.literals, compiled(pattern).search, ())

    @property
    def function_names(self) -> frozenset[str]:
        """The names of the functions that print it, without class and outer underscores; not common ones (``forward``)."""
        names = {site.function.rpartition(".")[2].strip("_") for site in self.message.sites}
        return frozenset(names - {"", "init", "forward", "call", "post_init", "module", "main", "run", "getattr"})

    @property
    def text(self) -> str:
        """The literal text, without white space at its ends."""
        return _SPACE.sub(" ", "".join(piece or HOLE_MARK for piece in self.literals)).strip()


def _nearest(site: StoredSite) -> str:
    return re.sub(r"\s+", "", site.guards[-1].condition) if site.guards else ""


class Places:
    """The places of an index."""

    def __init__(self, index: MessageIndex) -> None:
        self.index = index
        self._printers: list[Printer] = []
        texts: list[str] = []
        for message in index.every():
            literals = tuple(None if isinstance(piece, Hole) else piece for piece in message.template)
            printer = Printer(message, literals)
            self._printers.append(printer)
            texts.append(printer.text.lower().replace("\n", " "))
        self._starts = [0]
        for text in texts:
            self._starts.append(self._starts[-1] + len(text) + 1)
        self._all = "\n".join(texts)
        self._lines = texts
        self._files: dict[str, set[str]] = {}
        self._holding = lru_cache(maxsize=None)(self._find_holding)

    def has_file(self, package: str, file: str) -> bool:
        """Whether the index has a message of a file of the package; ``file`` is the end of its path."""
        if package not in self._files:
            self._files[package] = {
                site.file for p in self._printers if p.message.package == package for site in p.message.sites
            }
        return any(one == file or one.endswith(f"/{file}") or file.endswith(f"/{one}") for one in self._files[package])

    def printers(self, pattern: str, said: Sequence[str]) -> list[Printer]:
        """The messages that the pattern matches. ``said``: lines that it matches, with white space folded; they give the values
        in the holes of its own message."""
        clauses = required_texts(pattern)
        if not clauses:
            return []
        found = self._holding(tuple(_longest(clauses)))
        if len(found) > MOST_CANDIDATES:
            return []
        search = compiled(pattern).search
        return [self._printers[number] for number in found if _prints(self._printers[number].literals, search, said)]

    def _find_holding(self, choices: tuple[str, ...]) -> list[int]:
        """The numbers of the messages whose literal text contains one of these texts."""
        found: dict[int, None] = {}
        for text in choices:
            at = self._all.find(text)
            while at >= 0:
                number = bisect_right(self._starts, at) - 1
                found[number] = None
                at = self._all.find(text, self._starts[number + 1])
        return sorted(found)


def _longest(clauses: list[list[str]]) -> list[str]:
    return max(clauses, key=lambda clause: min(map(len, clause)))


@lru_cache(maxsize=512)
def compiled(pattern: str) -> Any:
    """The pattern, compiled as for searching logs."""
    return re2.compile(f"(?m){pattern}")


def _prints(literals: tuple[str | None, ...], search: Any, said: Sequence[str]) -> bool:
    for text in said:
        agreed = fit(text, literals)
        if agreed is not None and search(render(literals, [value or "" for value in agreed.values])) is not None:
            return True
    return any(search(text) is not None for text in _filled(literals))


def _filled(literals: tuple[str | None, ...]) -> Iterator[str]:
    """The template with many combinations of values in its holes, the same ones each time."""
    holes = sum(piece is None for piece in literals)
    for value in FILLERS if holes else ("",):
        yield render(literals, [value] * holes)
    if holes > 1:
        chosen = random.Random(holes)
        few = list(product(FILLERS[:6], repeat=holes)) if holes <= 2 else None
        for number in range(MAX_FILLINGS):
            yield render(literals, few[number % len(few)] if few else [chosen.choice(FILLERS) for _ in range(holes)])


def render(literals: Sequence[str | None], values: Sequence[str]) -> str:
    """The template with these values in its holes; white space folded."""
    left = iter(values)
    return _SPACE.sub(" ", "".join(next(left, "") if piece is None else piece for piece in literals)).strip()


def finds(pattern: str, text: str) -> bool:
    """Whether the pattern is found in the text."""
    return compiled(pattern).search(text) is not None
