"""Brings the Python files of a release, through pip's own client.

Of a wheel only the parts that hold Python files are downloaded (pip's lazy wheel reads by ranges), as compiled libraries
are most of it (docs/decisions/0008). An sdist is downloaded whole. These are pip's internal modules, which a new pip may change; they are needed
because ``pip download`` can only bring whole archives.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

from kb.errors import TroubleshootError
from kb.index.make.plan import Package
from kb.tables.plan import Plan
from kb.tables.releases import modules_of

PYTHONS = ((3, 10), (3, 12), (3, 8))
"""Releases are listed for these interpreters; the first that has a wheel of a release gives it."""
MAX_SDIST_BYTES = 60_000_000
MAX_FILE_BYTES = 4_000_000
GAP_BYTES = 200_000
"""Parts of a wheel that are closer than this are downloaded in one piece."""
_DATA = re.compile(r"^[^/]+\.data/(?:purelib|platlib)/")
_PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(40, 4, -1)] + [
    "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64", "linux_x86_64",
]  # fmt: skip


class ReleaseUnreadable(TroubleshootError):
    """A release whose Python files cannot be had."""


class Release(NamedTuple):
    """One release as the index of packages offers it."""

    package: str
    version: str
    url: str
    sha256: str
    wheel: bool


@cache
def _session() -> Any:
    from pip._internal.network.session import PipSession

    return PipSession(retries=3)


def offered(package: str) -> dict[str, Release]:
    """Every release by its version, a wheel where there is one. Raises `ReleaseUnreadable` where nothing is listed."""
    from pip._internal.index.collector import LinkCollector
    from pip._internal.index.package_finder import PackageFinder
    from pip._internal.models.index import PyPI
    from pip._internal.models.search_scope import SearchScope
    from pip._internal.models.selection_prefs import SelectionPreferences
    from pip._internal.models.target_python import TargetPython

    found: dict[str, Release] = {}
    for python in PYTHONS:
        finder = PackageFinder.create(
            LinkCollector(_session(), SearchScope.create([], [PyPI.simple_url], no_index=False)),
            SelectionPreferences(allow_yanked=True, ignore_requires_python=True),
            target_python=TargetPython(platforms=_PLATFORMS, py_version_info=python, implementation="cp"),
        )
        for candidate in finder.find_all_candidates(package):
            link, version = candidate.link, str(candidate.version)
            if version not in found or (link.is_wheel and not found[version].wheel):
                sha256 = link.hash if link.hash_name == "sha256" else ""
                found[version] = Release(package, version, link.url_without_fragment, sha256 or "", link.is_wheel)
    if not found:
        raise ReleaseUnreadable(f"{package}: the index of packages lists no release; is the network there?")
    return found


def files(release: Release, package: Package) -> Iterator[tuple[str, str]]:
    """The wanted Python files: path in the archive, and text. Raises `ReleaseUnreadable`."""
    try:
        yield from _wheel(release, package) if release.wheel else _sdist(release, package)
    except (OSError, BadZipFile, RuntimeError, ValueError) as error:
        raise ReleaseUnreadable(f"{release.package} {release.version}: {type(error).__name__}: {error}") from error


def members(release: Release, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Those of the named files that a wheel holds. Raises `ReleaseUnreadable`."""
    from pip._internal.network.lazy_wheel import LazyZipOverHTTP

    try:
        with LazyZipOverHTTP(release.url, _session()) as lazy, ZipFile(lazy) as archive:
            wanted = [item for item in archive.infolist() if item.filename in names]
            for begin, end in _runs(wanted):
                lazy.seek(begin)
                lazy.read(end - begin)
            for item in wanted:
                yield item.filename, archive.read(item)
    except (OSError, BadZipFile, RuntimeError, ValueError) as error:
        raise ReleaseUnreadable(f"{release.package} {release.version}: {type(error).__name__}: {error}") from error


def _wheel(release: Release, package: Package) -> Iterator[tuple[str, str]]:
    from pip._internal.network.lazy_wheel import LazyZipOverHTTP

    with LazyZipOverHTTP(release.url, _session()) as lazy, ZipFile(lazy) as archive:
        wanted = [
            item for item in archive.infolist() if package.wants(_installed(item)) and item.file_size <= MAX_FILE_BYTES
        ]
        for begin, end in _runs(wanted):
            lazy.seek(begin)
            lazy.read(end - begin)
        for item in sorted(wanted, key=lambda item: item.filename):
            yield _installed(item), archive.read(item).decode("utf-8", "replace")


def _installed(item: ZipInfo) -> str:
    """Where a file of a wheel is installed, below site-packages."""
    return _DATA.sub("", item.filename)


def _runs(items: list[ZipInfo]) -> list[tuple[int, int]]:
    """The parts of an archive that hold the items, neighbours together."""
    found: list[tuple[int, int]] = []
    for item in sorted(items, key=lambda item: item.header_offset):
        begin = item.header_offset
        end = begin + 30 + len(item.filename.encode()) + len(item.extra) + 64 + item.compress_size
        if found and begin - found[-1][1] < GAP_BYTES:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def _sdist(release: Release, package: Package) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / release.url.rpartition("/")[2]
        with _session().get(release.url, stream=True) as answer:
            answer.raise_for_status()
            size = int(answer.headers.get("content-length", 0))
            if size > MAX_SDIST_BYTES:
                raise ValueError(f"an sdist of {size} bytes, more than {MAX_SDIST_BYTES}")
            with path.open("wb") as out:
                for chunk in answer.iter_content(1 << 16):
                    out.write(chunk)
        for module in package.modules:
            for _, name, source in modules_of(path, Plan(package.package, module, package.first, sdist=True)):
                if package.wants(name) and len(source) <= MAX_FILE_BYTES:
                    yield name, source
