"""Reads the releases of the plan that are not yet kept, with progress; an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from packaging.version import Version

from kb.index.make.archives import ReleaseUnreadable, files, offered
from kb.index.make.kept import KeptReleases, versions
from kb.index.make.plan import Package, chosen, spread


def read_releases(
    plan: Sequence[Package],
    folder: Path,
    *,
    thin: bool = False,
    most: int | None = None,
    known: Mapping[str, Sequence[str]] | None = None,
    older: bool = False,
) -> dict[str, str]:
    """Bring what is missing into the cache folder; returns what was left out, ``package version`` to the reason.

    ``known``: by package the releases that need not be read, oldest first. Only releases that are newer than the last of them are read; with
    ``older`` all others too.
    """
    left_out: dict[str, str] = {}
    for number, package in enumerate(plan, 1):
        try:
            releases = offered(package.package)
        except ReleaseUnreadable as error:
            left_out[package.package] = str(error)
            say(f"left out: {error}")
            continue
        kept = KeptReleases(folder, package.package)
        try:
            have = set(kept.versions())
            old = (known or {}).get(package.package, ())
            unknown = [
                version
                for version in chosen(releases, package.first, thin=thin)
                if version not in old and (older or not old or Version(version) > Version(old[-1]))
            ]
            wanted = spread(unknown)[:most]
            missing = [version for version in wanted if version not in have]
            say(f"[{number}/{len(plan)}] {package.package}: {len(missing)} of {len(wanted)} releases to read")
            for version in missing:
                release = releases[version]
                begun = time.monotonic()
                try:
                    new = kept.add(version, release.url.rpartition("/")[2], release.sha256, files(release, package))
                except ReleaseUnreadable as error:
                    left_out[f"{package.package} {version}"] = str(error)
                    say(f"left out: {error}")
                    continue
                say(f"{package.package} {version}: {new} new files, {time.monotonic() - begun:.1f} s")
        finally:
            kept.close()
    return left_out


def remembered(folder: Path, new: Mapping[str, str]) -> dict[str, str]:
    """What was left out in this run and, where it is still not kept, in earlier ones."""
    path = folder / "left_out.json"
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    known = {
        name: reason
        for name, reason in known.items()
        if name.partition(" ")[2] not in versions(folder, name.split()[0])
    }
    known |= new
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(known, indent=1))
    return known


def say(text: str) -> None:
    """Progress, on the error stream."""
    print(text, file=sys.stderr, flush=True)
