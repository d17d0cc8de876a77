"""Where compiled entries come from: the wheel's own pack, or a checkout's and a user's folders through the cache."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from kb.compiled import FORMAT, Knowledge, Pack

PACK = Path(__file__).with_name("data") / "knowledge.pack"
CHECKOUT = Path(__file__).parent.parent / "entries"
KEPT, DAYS = 40, 14
"""Files that the cache keeps, and for how long unused: every change of an entry makes new ones of some megabytes."""
_HOUR = 3600.0


def cache_folder() -> Path:
    """The user's cache folder for this tool (it may not exist or not be writable)."""
    if given := os.environ.get("TROUBLESHOOT_CACHE"):
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "llm-troubleshooter"


def shipped() -> Path | None:
    """The folder of entries of a checkout, or None in an installed wheel."""
    return CHECKOUT if not PACK.exists() and CHECKOUT.is_dir() else None


def packs(*folders: Path) -> list[Pack]:
    """The shipped entries, then those of the folders, which go on top.

    Raises `kb.problem.EntryError` with every problem when a folder's entries cannot be used, and FileNotFoundError
    when a folder does not exist or nothing is shipped.
    """
    if PACK.exists():
        found = [Pack(PACK)]
    elif CHECKOUT.is_dir():
        found = [pack(CHECKOUT, "shipped", strict=False)]
    else:
        raise FileNotFoundError(f"no entries: neither {PACK} nor {CHECKOUT} exists; install the package again")
    for folder in folders:
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: no such folder of entries; expected <area>/<id>/entry.yaml below it")
        found.append(pack(folder, str(folder)))
    return found


def knowledge(*folders: Path) -> Knowledge:
    """All of `packs` as one. Raises what that raises."""
    return Knowledge(packs(*folders))


def pack(folder: Path, origin: str, *, strict: bool = True) -> Pack:
    """The compiled form of a folder, from the cache when nothing in it changed.

    A faulty entry is an error when strict; otherwise it is left out, with a line on standard error.
    """
    target = cache_folder() / f"{_fingerprint(folder)}.pack"
    try:
        found = Pack(target, origin)
        used(target)
        return found
    except (OSError, ValueError):
        pass
    from kb.compile import compile_to
    from kb.load import load

    library = load(folder)
    if not strict and library.problems:
        print(f"troubleshoot: left out faulty entries; see: troubleshoot check {folder}", file=sys.stderr)
        library = library.usable()
    library.need()
    try:
        compile_to(library, target)
        tidy(target.parent)
        return Pack(target, origin)
    except OSError:  # the cache cannot be written: compile into a place that vanishes with the process
        import tempfile

        with tempfile.TemporaryDirectory() as place:
            compile_to(library, Path(place) / "knowledge.pack")
            return Pack(Path(place) / "knowledge.pack", origin)


def used(path: Path) -> None:
    """Note that a file of the cache is in use, by its time (once an hour: a cache may be shared and slow to write)."""
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _HOUR:
            os.utime(path)


def tidy(folder: Path) -> None:
    """Remove what nobody used for `DAYS`, and of more than `KEPT` files those that were not used for longest.

    Called when a new one was written. What cannot be removed stays (a program that has it open, on Windows).
    """
    with suppress(OSError):
        found = sorted(
            ((item.stat().st_mtime, item.path) for item in os.scandir(folder) if item.name.endswith((".pack", ".hs"))),
            reverse=True,
        )
        oldest = time.time() - DAYS * 24 * _HOUR
        for number, (at, path) in enumerate(found):
            if number >= KEPT or at < oldest:
                with suppress(OSError):
                    os.unlink(path)


def _fingerprint(folder: Path) -> str:
    """A hash over path, size and time of every file that is compiled (reading them all would cost a start 20 ms)."""
    import hashlib

    digest = hashlib.blake2b(f"{FORMAT} {folder.resolve()}".encode(), digest_size=16)
    for name in ("compile.py", "form.py", "patterns.py", "shown.py"):
        digest.update(str(Path(__file__).with_name(name).stat().st_mtime_ns).encode())
    stack = [str(folder)]
    found = []
    while stack:
        with os.scandir(stack.pop()) as inside:
            for item in inside:
                if item.is_dir(follow_symlinks=False):
                    if item.name not in ("match", "no_match"):
                        stack.append(item.path)
                elif item.name.endswith((".yaml", ".jsonl", ".json")):
                    state = item.stat()
                    found.append(f"{item.path}\0{state.st_size}\0{state.st_mtime_ns}")
    for line in sorted(found):
        digest.update(line.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()
