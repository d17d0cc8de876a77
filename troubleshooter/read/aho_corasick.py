"""Search for literals by the Aho-Corasick algorithm, if Hyperscan is not installed.

An automaton is made at each start, as it cannot be kept (docs/decisions/0018).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ahocorasick_rs import BytesAhoCorasick, MatchKind

from troubleshooter.read.database import Note


class AhoCorasickDatabase:
    """A `read.database.Database` of ahocorasick_rs."""

    def __init__(self, words: Sequence[str], numbers: Sequence[int], every: Callable[[int], bool]) -> None:
        self._numbers = numbers
        self._every = [every(number) for number in numbers]
        literals = [words[number].encode().lower() for number in numbers]  # bytes: only ASCII has a lower case
        self._automaton = BytesAhoCorasick(literals, matchkind=MatchKind.Standard)

    def scan(self, text: bytes, match_event_handler: Note) -> None:
        seen: set[int] = set()
        for index, _, stop in self._automaton.find_matches_as_indexes(bytes(text).lower(), overlapping=True):
            if not self._every[index]:
                if index in seen:
                    continue
                seen.add(index)
            if match_event_handler(self._numbers[index], 0, stop, 0, None):
                return

    def for_thread(self) -> Callable[[bytes, Note], None]:
        return self.scan


def make(
    words: Callable[[], Sequence[str]], every: Callable[[int], bool], cache: Path | None, name: str
) -> AhoCorasickDatabase | None:
    """Makes a database as `read.database.database` describes. Nothing is cached, because the automaton cannot be
    written to a file."""
    texts = words()
    numbers = [number for number, text in enumerate(texts) if text]
    return AhoCorasickDatabase(texts, numbers, every) if numbers else None
