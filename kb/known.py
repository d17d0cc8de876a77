"""Names that are known without reading or compiling the entries: for completion, suggestions and versions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

from kb.cache import PACK, shipped
from kb.compile.state import TABLES
from kb.compiled import Pack

_GIT_SECONDS = 5.0


def known_ids() -> list[str]:
    """Ids of the shipped entries: from a checkout's folders, or the wheel's index. Raises OSError, ValueError."""
    root = shipped()
    if root is None:
        return sorted(Pack(PACK).index.ids)
    return sorted(id_ for area in _areas(root) for id_ in _folders(root / area))


def known_areas() -> list[str]:
    """Areas of the shipped entries. Raises OSError, ValueError."""
    root = shipped()
    if root is None:
        return sorted({told.area for told in Pack(PACK).index.listing()})
    return sorted(_areas(root))


def knowledge_date() -> str | None:
    """The day (``2026-11-23``) of the last recorded change of the shipped entries, or None where nothing records it.

    A wheel carries the day it was given when it was built; a checkout asks git. Times of files say only when they were
    copied, so they are not used.
    """
    root = shipped()
    return Pack(PACK).date if root is None else last_change(root)


def last_change(folder: Path) -> str | None:
    """The day of the last commit that changed the folder, or None where git does not know it."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "log", "-1", "--format=%cs", "--", "."],
            capture_output=True, text=True, timeout=_GIT_SECONDS, check=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None


def _areas(root: Path) -> Iterator[str]:
    return (name for name in _folders(root) if name != TABLES)


def _folders(place: Path) -> Iterator[str]:
    with os.scandir(place) as inside:
        yield from [item.name for item in inside if item.is_dir()]
