"""What a name on the command line stands for: a URL, an archive, a file in an archive, or else a path of this machine."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

_URL = re.compile(r"([a-z][a-z0-9+.\-]*)://")
_ARCHIVE = r"\.(?:zip|tar|tar\.(?:gz|xz|bz2|zst)|tgz|txz|tbz2)"
_IS_ARCHIVE = re.compile(rf"{_ARCHIVE}\Z", re.IGNORECASE)
_IN_ARCHIVE = re.compile(rf"(.+?{_ARCHIVE})!/(.+)\Z", re.IGNORECASE | re.DOTALL)


class Member(NamedTuple):
    """A file in an archive: the archive's path or URL, and the name that it has there."""

    archive: str
    name: str


def scheme_of(name: str) -> str | None:
    """The scheme of a URL; None for a path."""
    found = _URL.match(name)
    return found[1] if found else None


def is_archive(name: str) -> bool:
    """Whether a name is that of a tar or zip archive."""
    return _IS_ARCHIVE.search(name) is not None


def is_elsewhere(name: str) -> bool:
    """Whether the logs that a name stands for are no files of this machine: a URL, or an archive that is a file."""
    scheme = scheme_of(name)
    return scheme not in (None, "file") or (is_archive(name) and os.path.isfile(name.removeprefix("file://")))


def member_of(name: str) -> Member | None:
    """The archive and the file in it that ``ARCHIVE!/NAME`` stands for; None for any other name."""
    found = _IN_ARCHIVE.match(name)
    return Member(found[1], found[2]) if found else None


def name_in(archive: str, name: str) -> str:
    """What a file in an archive is called."""
    return f"{archive}!/{name}"
