"""Entries and probes from elsewhere: from installed packages, and from folders that the environment or the user names.

A package announces them by entry points of the groups `ENTRIES` and `PROBES` (docs/extending.md). We find such packages
by their metadata files, because `importlib.metadata.entry_points` takes too long for each start (docs/decisions/0017).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

__all__ = [
    "CALLER",
    "ENTRIES",
    "PROBES",
    "VARIABLE",
    "EntryFolder",
    "entry_folders",
    "folders_from_environment",
    "installed",
]

ENTRIES, PROBES = "troubleshooter.entries", "troubleshooter.probes"
"""The groups of entry points. An entry point names a package, whose folder is used, or a function that returns one or
several folders."""
CALLER = "named by the caller"
VARIABLE = "TROUBLESHOOT_ENTRIES"
"""Folders of entries, separated as in ``PATH``."""


class EntryFolder(NamedTuple):
    """A folder of entries on top of the shipped ones. ``named_by``: who asked for it, as it is shown to people. ``strict``: a
    faulty entry is an error; otherwise it is left out with a warning."""

    path: Path
    named_by: str
    strict: bool = True


def entry_folders(asked: Sequence[Path] = ()) -> list[EntryFolder]:
    """Every folder on top of the shipped entries, in the order in which a later one replaces an earlier one.

    Installed packages come first, then the folders of ``TROUBLESHOOT_ENTRIES``, then ``asked``. A folder that is named
    twice counts at its last place, and as it was named first.
    """
    found = [EntryFolder(path, f"package {name}", strict=False) for name, path in installed(ENTRIES)]
    found += [EntryFolder(path, VARIABLE) for path in folders_from_environment()]
    found += [EntryFolder(path, CALLER) for path in asked]
    first: dict[str, EntryFolder] = {}
    last: dict[str, int] = {}
    for number, folder in enumerate(found):
        key = os.path.realpath(folder.path)
        first.setdefault(key, folder)
        last[key] = number
    return [first[key] for key in sorted(last, key=last.__getitem__)]


def folders_from_environment() -> list[Path]:
    """The folders that ``TROUBLESHOOT_ENTRIES`` names."""
    return [Path(part).expanduser() for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]


def installed(group: str) -> list[tuple[str, Path]]:
    """The folders that installed packages announce: name and version of the package, and the folder.

    A package that cannot be used is left out with a warning on standard error. The order is that of the packages' names.
    """
    found: dict[str, list[tuple[str, Path]]] = {}
    for metadata in _announcing(group):
        from importlib.metadata import Distribution

        package = Distribution.at(metadata)
        name = package.metadata["Name"] or metadata.name
        if name in found:  # an earlier folder of `sys.path` has it, too: that one is imported
            continue
        label = f"{name} {package.version}"
        found[name] = []
        for point in package.entry_points:
            if point.group != group:
                continue
            try:
                found[name] += [(label, path) for path in _folders(point)]
            except Exception as error:  # the package's own code may raise anything
                from kb.clean import clean

                text = f"package {label} is left out: its {group} {point.name!r} ({point.value}): {error}"
                print(f"troubleshoot: {clean(text)}", file=sys.stderr)
    return [item for name in sorted(found) for item in found[name]]


def _announcing(group: str) -> Iterator[Path]:
    """The metadata folders of installed packages that have entry points of the group.

    The working folder is not looked at: `python -m` puts it on the path, and it may be anybody's.
    """
    needle = f"[{group}]".encode()
    working = os.path.realpath(os.curdir)
    for place in dict.fromkeys(sys.path):
        if not place or os.path.realpath(place) == working:
            continue
        try:
            with os.scandir(place) as items:
                names = sorted(item.name for item in items if item.name.endswith(".dist-info"))
        except OSError:
            continue
        for name in names:
            metadata = os.path.join(place, name)
            try:
                with open(os.path.join(metadata, "entry_points.txt"), "rb", buffering=0) as file:
                    if needle in file.read():
                        yield Path(metadata)
            except OSError:
                continue


def _folders(point: Any) -> list[Path]:
    """The folders of one entry point (`importlib.metadata.EntryPoint`). Raises whatever importing it raises, and ValueError."""
    from importlib.util import find_spec

    if point.attr:
        given = point.load()()
        found = [Path(given)] if isinstance(given, (str, Path)) else [Path(path) for path in given]
    else:
        spec = find_spec(point.module)
        if spec is None or not spec.submodule_search_locations:
            raise ValueError(f"expected an importable package; {point.module} is none")
        found = [Path(spec.submodule_search_locations[0])]
    for path in found:
        if not path.is_dir():
            raise ValueError(f"expected a folder; {path} is none")
    return found
