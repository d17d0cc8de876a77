"""Which other packages print the same words as a symptom, for a reason of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from kb.compiled_conditions import own_patterns, patterns_of
from kb.index.store import PYTHONS_OWN
from kb.proof.citation import files_of, in_file
from kb.proof.places import HOLE_MARK, Places, Printer

SAME_TEXT = 30
"""An equal text with at least this many literal characters is a copy, and means the same."""
FAMILIES = ("unsloth", "lightning")
"""Projects with several packages, by the part that the packages' names share."""


def at_home(own: Sequence[Printer], file: str, samples: Sequence[str]) -> list[Printer]:
    """The messages that the entry is about: those of the cited file, else of a file that a sample names, else all."""
    files = files_of(file)
    cited = [p for p in own if any(in_file(site.file, part) for site in p.message.sites for part in files)]
    if cited:
        return cited
    shown = [p for p in own if any(site.file in text for site in p.message.sites for text in samples)]
    return shown or list(own)


def is_shown(package: str, samples: Sequence[str]) -> bool:
    """Whether a sample of the entry names the package: the entry is about its message, too."""
    return any(re.search(rf"\b{re.escape(package)}\b", text) for text in samples)


def rivals_of(
    found: Sequence[Printer],
    home: Sequence[Printer],
    conditions: Sequence[Any],
    excluded: Sequence[Any],
    places: Places,
) -> Iterator[str]:
    """Places of other packages that print the words for a reason of their own, and that the symptom's other conditions do not
    rule out. A copy of the same code, with the same function, condition or text, means the same and is no rival."""
    functions = {name for printer in home for name in printer.function_names}
    guards = {guard for printer in home for guard in printer.guards}
    texts = {printer.text for printer in home if len(printer.text) >= SAME_TEXT}
    packages = {_family(printer.message.package) for printer in home}
    patterns = [pattern["re"] for condition in conditions for pattern in patterns_of(condition)]
    for printer in found:
        message = printer.message
        if _family(message.package) in packages or PYTHONS_OWN.search(printer.text.replace(HOLE_MARK, "x")):
            continue
        if printer.function_names & functions or printer.guards & guards or printer.text in texts:
            continue
        if any(f"/{package}/" in site.file for package in packages for site in message.sites):
            continue  # a package that brings a copy of another one
        if not any(printer.can_print(pattern) for pattern in patterns):
            continue
        if all(_may_hold(condition, printer, places) for condition in conditions) and not any(
            _rules_out(condition, printer) for condition in excluded
        ):
            site = message.sites[0]
            yield (
                f"{message.package}: {site.file}: {site.function}"
                if site.function
                else f"{message.package}: {site.file}"
            )


def _family(package: str) -> str:
    """One name for packages of one project, which share their code."""
    return next((family for family in FAMILIES if family in package), package)


def _may_hold(condition: Any, printer: Printer, places: Places) -> bool:
    kind, message = condition["kind"], printer.message
    if kind == "frame":
        return any(
            path in f"/{site.file}" or site.file in path for path in condition["paths"] for site in message.sites
        )
    if kind == "package":
        return any(places.index.package(name) == message.package for name in condition["names"])
    if kind == "version":
        return any(places.index.package(name) == message.package for name in condition["version"])
    if kind == "all":
        return all(_may_hold(part, printer, places) for part in condition["parts"])
    if kind == "any":
        return any(_may_hold(part, printer, places) for part in condition["parts"])
    return kind != "not" or not _rules_out(condition["part"], printer)


def _rules_out(condition: Any, printer: Printer) -> bool:
    """Whether an excluding condition holds for a message, by the message's words or file."""
    kind = condition["kind"]
    if kind == "frame":
        return any(path in f"/{site.file}" for path in condition["paths"] for site in printer.message.sites)
    if kind == "any" or kind == "all":
        return any(_rules_out(part, printer) for part in condition["parts"])
    return any(printer.can_print(pattern["re"]) for pattern in own_patterns(condition))
