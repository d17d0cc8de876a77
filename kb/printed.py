"""Which releases of which packages print the words of an entry's symptoms, as ``troubleshoot check --proof`` found out.

The file is sorted by entry, so that one entry is found without reading the rest. Its first line says what it was made from.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Set
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from kb.text.catalog import Section
from kb.versions import release

FILE = Path(__file__).parent / "data" / "words.tsv"
MOST_TOLD = 3
SHOWN_BY_RELEASES = frozenset({"printed", "elsewhere"})
"""The states of a symptom whose words a release prints."""
ONE_THREAD = "thread"
"""The state of a symptom that only one thread shows."""
_say = Section("words")
COLUMNS = ("entry", "symptom", "digest", "state", "printed", "wrong", "rivals")


class PrintedBy(NamedTuple):
    """A package whose releases from ``first`` to ``last`` print the words of a symptom; ``first`` and ``last`` are "" where the
    index does not tell. Only releases that the index read are known."""

    symptom: str
    package: str
    first: str
    last: str
    files: tuple[str, ...]


def printed_by(entry: str, path: Path = FILE) -> list[PrintedBy]:
    """The packages that print an entry's words; [] if none is known."""
    found: list[PrintedBy] = []
    for row in rows_of(entry, path):
        found += [PrintedBy(row[1], *one) for one in parsed(row[4])]
    return found


def told(entry: str, lang: str, path: Path = FILE) -> str:
    """The packages and releases that print an entry's words, as a reader is told; "" where nothing is known, or where so many
    packages print them that none says anything about the entry."""
    spans: dict[str, list[tuple[str, str]]] = {}
    for one in printed_by(entry, path):
        spans.setdefault(one.package, []).append((one.first, one.last))
    if not spans or len(spans) > MOST_TOLD:
        return ""
    packages = []
    for package, ends in sorted(spans.items()):
        first = min((begin for begin, _ in ends if begin), key=release, default="")
        last = max((end for _, end in ends if end), key=release, default="")
        packages.append(_say("printed-from", lang, package=package, first=first, last=last) if first else package)
    return _say("printed-by", lang, packages=", ".join(packages))


def from_one_thread(entry: str, path: Path = FILE) -> frozenset[str]:
    """The names of the entry's symptoms that are known from one thread only (`kb.proof.words`): one report may be mistaken
    about its cause, so they never make an answer certain."""
    return frozenset(row[1] for row in rows_of(entry, path) if row[3] == ONE_THREAD)


def told_thread(entry: str, lang: str, path: Path = FILE) -> str:
    """What a reader is told of an entry that is known from one thread only, wholly or in part; "" where nothing is."""
    alone, symptoms = len(from_one_thread(entry, path)), len(rows_of(entry, path))
    if not alone:
        return ""
    return _say("one-thread", lang) if alone == symptoms else _say("one-thread-some", lang, count=alone, of=symptoms)


def proven(recorded: Set[str], path: Path = FILE) -> set[str]:
    """The ids of the proven entries. ``recorded``: the ids of those that a recorded run confirms.

    An entry is proven if a recorded run confirms it or releases print the words of all its symptoms. It is not if what it
    cites does not hold.
    """
    states: dict[str, set[str]] = {}
    wrong: set[str] = set()
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        if not line.startswith("#"):
            entry, _, _, state, _, fault, _ = line.split("\t")
            states.setdefault(entry, set()).add(state)
            if fault:
                wrong.add(entry)
    return ({entry for entry, found in states.items() if found <= SHOWN_BY_RELEASES} | recorded) - wrong


def rows_of(entry: str, path: Path = FILE) -> list[list[str]]:
    """The rows of an entry, as `COLUMNS`; [] if the file has none, or if there is no file.

    Every diagnosis with a certain answer asks this. The rows are looked up in the sorted file rather than put into compiled
    entries, which each new row would link anew (docs/decisions/0035).
    """
    wanted = f"{entry}\t".encode()
    if not path.is_file():
        return []
    with path.open("rb") as file:

        def line_after(offset: int) -> bytes:
            """The first line that begins behind the offset."""
            file.seek(offset)
            file.readline()
            return file.readline() or b"\xff"  # the end of the file sorts behind every line

        start = bisect_left(range(path.stat().st_size), wanted, key=line_after)
        file.seek(start)
        file.readline()
        return [row.decode().rstrip("\r\n").split("\t") for row in takewhile(lambda row: row.startswith(wanted), file)]


def parsed(cell: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """The packages of a cell: name, first and last release, files. `packed` writes it."""
    found = []
    for part in filter(None, cell.split("; ")):
        package, first, last, files = part.split(" ", 3)
        found.append((package, first.strip("?"), last.strip("?"), tuple(files.split(","))))
    return found


def packed(package: str, first: str, last: str, files: tuple[str, ...]) -> str:
    """One package of a cell, as `parsed` reads it."""
    return f"{package} {first or '?'} {last or '?'} {','.join(files)}"
