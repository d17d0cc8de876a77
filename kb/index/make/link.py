"""From the places of each release to the distinct messages of a package: in which releases, where, and what came after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from packaging.version import Version
from rapidfuzz import fuzz

from kb.index.place import MessagePlace, weight
from kb.index.record import Row

LEAST_WEIGHT = 6
"""Literal characters (without white space) of the least message that the index holds."""
SIMILAR = 65.0
"""Least likeness (of 100, rapidfuzz's ratio) of a message that takes the place of a vanished one."""
COPIES = 3
"""Places with the same message in one function that are told apart."""

Literals = tuple[str | None, ...]
"""A template without the expressions: None is a hole."""
Span = tuple[int, int]
"""First and last release of a run of releases, as positions in the package's list."""


@dataclass
class Site:
    """One place of a message, in its latest form."""

    place: MessagePlace
    latest: int
    present: int = 0
    """Bit n: it is there in the release n."""
    stored: Row | None = None
    """How the shipped index holds it, if its latest form was read from there."""


@dataclass
class LinkedMessage:
    """One distinct message of a package."""

    kind: str
    exception: str | None
    level: str | None
    literals: Literals
    sites: dict[tuple[str, str, int], Site] = field(default_factory=dict)
    replaced: str | None = None
    """The text that took the place of a vanished message in the same function."""
    elsewhere: int = 0
    """Bit n: the shipped index knows it in the release n, maybe in a place that it does not keep."""

    @property
    def present(self) -> int:
        """Bit n: some place of it is there in the release n."""
        found = self.elsewhere
        for site in self.sites.values():
            found |= site.present
        return found

    @property
    def text(self) -> str:
        """The message of its latest place, for people."""
        return max(self.sites.values(), key=lambda site: site.latest).place.text


class LinkedRelease(NamedTuple):
    """One release: its version, and for each file its path and a key that stands for the content."""

    version: str
    files: Sequence[tuple[str, str]]


def link(
    releases: Sequence[LinkedRelease],
    places: Callable[[str, str], list[MessagePlace]],
    *,
    quiet: bool = False,
    known: Sequence[LinkedMessage] = (),
    before: Sequence[str] = (),
) -> list[LinkedMessage]:
    """The distinct messages of a package; ``releases`` oldest first, ``places`` gives those of one file (path, key).

    ``quiet`` leaves out prints and logs below a warning. Logs for debugging are always left out. ``known``: the messages of the
    releases ``before``, oldest first, none of which is read again; they are changed in place. A position (a bit) in the result is one in
    `in_order` of all releases.
    """
    order = in_order(before, releases)
    position = {version: number for number, version in enumerate(order)}
    _move(known, [position[version] for version in before])
    unwanted = (("log", "debug"), *((("print", None), ("log", "info"), ("log", None)) if quiet else ()))
    messages: dict[tuple[object, ...], LinkedMessage] = {
        (message.kind, message.exception, message.literals): message for message in known
    }
    read: dict[str, list[Site]] = {}
    for release in releases:
        number = position[release.version]
        for path, key in release.files:
            if key not in read:
                read[key] = list(
                    _sites((p for p in places(path, key) if (p.kind, p.level) not in unwanted), messages, number)
                )
            for site in read[key]:
                site.present |= 1 << number
    found = sorted(messages.values(), key=lambda item: (min(item.sites), item.kind, repr(item.literals)))
    _replace(found, order, set(before))
    return found


def in_order(before: Iterable[str], releases: Iterable[LinkedRelease]) -> list[str]:
    """The versions of known releases and of those that were read, oldest first."""
    return sorted({*before, *(release.version for release in releases)}, key=Version)


def spans(present: int) -> list[Span]:
    """The runs of set bits, as first and last position."""
    found: list[Span] = []
    number = 0
    while present >> number:
        if present >> number & 1:
            begin = number
            while present >> number & 1:
                number += 1
            found.append((begin, number - 1))
        number += 1
    return found


def _sites(
    found: Iterable[MessagePlace], messages: dict[tuple[object, ...], LinkedMessage], number: int
) -> Iterable[Site]:
    copies: dict[tuple[object, ...], int] = {}
    for place in found:
        if weight(place.template) < LEAST_WEIGHT:
            continue
        literals = tuple(piece if isinstance(piece, str) else None for piece in place.template)
        key = (place.kind, place.exception, literals)
        copy = copies[(*key, place.function)] = copies.get((*key, place.function), -1) + 1
        if copy >= COPIES:
            continue
        message = messages.setdefault(key, LinkedMessage(place.kind, place.exception, place.level, literals))
        site = message.sites.setdefault((place.path, place.function, copy), Site(place, number))
        if site.latest < number:
            site.place, site.latest, site.stored = place, number, None
        yield site


def _move(messages: Iterable[LinkedMessage], positions: Sequence[int]) -> None:
    """Give each release the position that it has among all: the release n becomes ``positions[n]``."""

    def moved(bits: int) -> int:
        return sum(1 << positions[number] for begin, end in spans(bits) for number in range(begin, end + 1))

    for message in messages:
        message.elsewhere = moved(message.elsewhere)
        for site in message.sites.values():
            site.present, site.latest = moved(site.present), positions[site.latest]


def _replace(messages: list[LinkedMessage], order: Sequence[str], before: set[str]) -> None:
    """Write into vanished messages what came in the same function (of any file: functions move) right after them.

    A message whose last release and the one after it were both known (``before``) keeps what was written into it.
    """
    arrived: dict[tuple[int, str], list[LinkedMessage]] = {}
    for message in messages:
        begin = spans(message.present)[0][0]
        for _, function, _ in message.sites:
            if begin and function:
                arrived.setdefault((begin, function), []).append(message)
    for message in messages:
        end = spans(message.present)[-1][1]
        if before.issuperset(order[end : end + 2]) and end + 1 < len(order):
            continue
        message.replaced = None
        if end + 1 == len(order):
            continue
        functions = {function for (_, function, _), site in message.sites.items() if site.present >> end & 1}
        best, likeness = None, SIMILAR
        for candidate in (item for function in sorted(functions) for item in arrived.get((end + 1, function), ())):
            score = fuzz.ratio(message.text, candidate.text)
            if score > likeness and candidate.literals != message.literals:
                best, likeness = candidate, score
        message.replaced = best.text if best else None
