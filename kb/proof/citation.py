"""Whether what a symptom cites holds: that this file, in this release, prints the symptom's words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from typing import Any

from kb.index.record import MOST_SITES
from kb.proof.places import Places, Printer
from kb.versions import release

_VERSION = re.compile(r"(?<![\w.])\d{1,4}(?:\.\d{1,4}){1,3}(?:\.?(?:post|dev|rc)\d+)?(?![\w.])")


def files_of(cited: str) -> list[str]:
    return [part.strip() for part in re.split(r"[,;\s]+", cited) if "." in part]


def in_file(file: str, part: str) -> bool:
    return file == part or fnmatch(file, f"*/{part}") or part.endswith(f"/{file}")


def contradiction(own: Sequence[Printer], file: str, versions: str, places: Places) -> str:
    """A sentence that says how the index contradicts a citation; "" if it does not.

    Only releases are judged that the index read, or of which it read one with the same minor version.
    """
    python = [part for part in files_of(file) if part.endswith(".py")]
    judged = [(version, found) for version in _VERSION.findall(versions) if (found := _read(version, own, places))]
    if not judged:
        return ""
    sites = {
        site.file for printer in own for site in printer.message.sites if _holds(printer, site.spans, judged, places)
    }
    many = any(
        len(printer.message.sites) >= MOST_SITES for printer in own
    )  # the index does not keep all places of such a message
    if python and sites and not many and not any(in_file(site, part) for site in sites for part in python):
        return f"{', '.join(python)} has no message with these words; {', '.join(sorted(sites)[:4])} has"
    lacking = [
        version for version, found in judged if not any(_holds(p, None, [(version, found)], places) for p in own)
    ]
    if lacking:
        first, last = _span(own, places)
        return f"release {', '.join(lacking)} does not print these words; {first} to {last} do"
    return ""


def newer_than_index(versions: str, cited: Sequence[str], places: Places) -> str:
    """A sentence that names cited releases above the newest that the index read; "" if there are none."""
    newest = [max(names, key=order) for package in cited if (names := places.index.releases(package))]
    above = [v for v in _VERSION.findall(versions) if newest and all(order(v)[0] > order(n)[0] for n in newest)]
    return f"release {', '.join(above)} is newer than any that the index read ({', '.join(newest)})" if above else ""


def _read(version: str, own: Sequence[Printer], places: Places) -> dict[str, int]:
    """By package: the number of the release of this version, or else of one with the same minor version."""
    found: dict[str, int] = {}
    for package in {printer.message.package for printer in own}:
        for number, name in enumerate(places.index.releases(package)):
            if order(name)[0][:2] == order(version)[0][:2]:
                found[package] = number
                if name == version:
                    break
    return found


def _holds(
    printer: Printer,
    spans: Sequence[tuple[int, int]] | None,
    judged: Sequence[tuple[str, Mapping[str, int]]],
    places: Places,
) -> bool:
    """Whether one of the releases prints a message; with ``spans``, whether the place with these spans does."""
    message = printer.message
    if message.kind == "compiled":  # compiled parts were not read in the releases of the package
        return True
    names = list(places.index.releases(message.package))
    ranges = spans or [(names.index(a), names.index(b)) for a, b in message.releases if a in names and b in names]
    return any(
        begin <= found[message.package] <= end
        for _, found in judged
        if message.package in found
        for begin, end in ranges
    )


def _span(own: Sequence[Printer], places: Places) -> tuple[str, str]:
    ends = [pair for printer in own for pair in printer.message.releases]
    return min((a for a, _ in ends), key=order, default="?"), max((b for _, b in ends), key=order, default="?")


def order(version: str) -> tuple[Any, int]:
    try:
        return release(version)
    except ValueError:
        return ((0,), -1)
