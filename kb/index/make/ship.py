"""Makes the shipped index and its manifest from what is kept, and tells what came and went with the newest releases."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from packaging.version import Version

from kb.index.make.kept import KeptReleases, versions
from kb.index.make.link import LinkedMessage, LinkedRelease, in_order, link, spans
from kb.index.make.plan import Package
from kb.index.make.shipped import ShippedPackage, shipped_package
from kb.index.make.write import Linked, kept_sites, write

MANIFEST = Path(__file__).with_name("manifest.json")


def linked(plan: Sequence[Package], folder: Path, index: Path) -> Iterator[Linked]:
    """The packages of the plan with their distinct messages, from what is kept and what ``index`` holds.

    A package of which every release of the index is kept is linked from its sources alone. Of any other one, the kept releases that the index
    lacks are linked to the messages of the index. A place in a file that the plan leaves out is dropped.
    """
    for package in plan:
        known = shipped_package(index, package.package)
        have = versions(folder, package.package)
        if known and set(known.releases) <= set(have):
            known = None
        if not have and known is None:
            continue
        old = known.releases if known else []
        with closing(KeptReleases(folder, package.package)) as kept:
            releases = [
                LinkedRelease(read.version, [(path, key) for path, key in read.files if package.wants(path)])
                for read in kept.releases()
                if read.version not in old
            ]
            messages = link(releases, kept.places, quiet=package.quiet, known=_wanted(known, package), before=old)
            kept.save()
        yield Linked(
            package.package,
            package.part_of,
            package.modules,
            in_order(old, releases),
            messages,
            package.brief,
        )


def _wanted(known: ShippedPackage | None, package: Package) -> list[LinkedMessage]:
    """The messages of a package of the index that stand in files which the plan reads."""
    wanted = []
    for message in known.messages if known else ():
        message.sites = {key: site for key, site in message.sites.items() if package.wants(key[0])}
        if message.sites:
            wanted.append(message)
    return wanted


def ship(
    plan: Sequence[Package], folder: Path, target: Path, left_out: Mapping[str, str], manifest: Path = MANIFEST
) -> dict[str, Any]:
    """Write the index and its manifest; returns the manifest. Releases of the target that are not kept stay in it."""
    before = _manifest(manifest)
    found = list(linked(plan, folder, target))
    write(target, found)
    counts = {item.package: _counts(item) for item in found}
    written: dict[str, Any] = {
        "file": target.name,
        "bytes": target.stat().st_size,
        "sha256": hashlib.sha256(target.read_bytes()).hexdigest(),
        "packages": len(found),
        "releases": sum(len(item.releases) for item in found),
        **{
            key: sum(count[key] for count in counts.values())
            for key in ("messages", "places", "guarded", "vanished", "replaced")
        },
        "thinned": "of a package with more than 60 releases the first and the last patch of each minor release were read, of vllm, sglang, ray "
        "and megatron-core only the last one; of torch, libtorch_cpu was read of one release without CUDA, and the sources of its CUDA "
        "library of three releases",
        "counts": counts,
        "read": {item.package: _read(folder, item, before.get(item.package, {})) for item in found},
        "left_out": dict(sorted(left_out.items())),
    }
    manifest.write_text(_text(written), encoding="utf-8")
    return written


def shipped_releases(manifest: Path = MANIFEST) -> dict[str, list[str]]:
    """By package: the releases of the shipped index, oldest first; empty where there is no manifest."""
    return {package: sorted(releases, key=Version) for package, releases in _manifest(manifest).items()}


def news(item: Linked, last: str | None) -> tuple[list[LinkedMessage], list[LinkedMessage]]:
    """What changed with the releases after ``last``: the messages that ``last`` has and the newest lacks, and those that came with the others
    and are still there. Where there was no last release, nothing is told."""
    if last is None:
        return [], []
    old, newest = item.releases.index(last), len(item.releases) - 1
    vanished = [one for one in item.messages if one.present >> old & 1 and not one.present >> newest & 1]
    arrived = [one for one in item.messages if spans(one.present)[0][0] > old and one.present >> newest & 1]
    return vanished, arrived


def _manifest(manifest: Path) -> dict[str, dict[str, list[object]]]:
    return json.loads(manifest.read_text(encoding="utf-8"))["read"] if manifest.exists() else {}


def _counts(item: Linked) -> dict[str, int]:
    newest = len(item.releases) - 1
    sites = [site for message in item.messages for site in kept_sites(message)]
    gone = [message for message in item.messages if spans(message.present)[-1][1] < newest]
    return {
        "releases": len(item.releases),
        "messages": len(item.messages),
        "places": len(sites),
        "guarded": sum(bool(site.place.guards) for site in sites),
        "vanished": len(gone),
        "replaced": sum(message.replaced is not None for message in gone),
    }


def _read(folder: Path, item: Linked, before: Mapping[str, list[object]]) -> dict[str, list[object]]:
    """Of each release: its archive's sha256, files and distinct places read."""
    with closing(KeptReleases(folder, item.package)) as kept:
        hashes = {read.version: [read.sha256, len(read.files)] for read in kept.releases()}
    present = [site.present for message in item.messages for site in message.sites.values()]
    return {
        version: [*hashes[version], sum(bits >> number & 1 for bits in present)]
        if version in hashes
        else before[version]
        for number, version in enumerate(item.releases)
    }


def _text(manifest: Mapping[str, Any]) -> str:
    """JSON with one line for each package and release."""
    return (
        json.dumps(manifest, indent=1, ensure_ascii=False)
        .replace("[\n   ", "[")
        .replace(",\n    ", ", ")
        .replace("\n   ]", "]")
        + "\n"
    )
