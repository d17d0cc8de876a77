"""Find or make compiled entries: the pack in the wheel, or packs of a checkout's and a user's folders in the cache."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kb.compiled import FORMAT, Knowledge, Pack
from kb.errors import NoEntries
from kb.extensions import entry_folders
from kb.home import home

PACK = Path(__file__).with_name("data") / "knowledge.pack"
CHECKOUT = Path(__file__).parent.parent / "entries"
MAX_CACHE_BYTES, MAX_CACHE_FILES, DAYS = 512 << 20, 1000, 14
"""The cache keeps at most so many bytes, in at most so many files, and none that was unused for ``DAYS`` days. Bytes are the limit that
counts: a team's few entries make a small file, and many of these must not push out the shipped entries, which take long to compile."""
_MANY = 200
"""Progress is shown if at least this many entries must be compiled."""
_DAY_SECONDS = 24 * 3600.0
_NOTED_AGAIN_SECONDS = 300.0


def cache_folder() -> Path:
    """The user's cache folder for this tool. It may not exist or not be writable; for a user without a home it never exists."""
    if given := os.environ.get("TROUBLESHOOT_CACHE"):
        return Path(given)
    own = home() or os.devnull
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(own, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(own, "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(own, ".cache")
    return Path(base) / "llm-troubleshooter"


def shipped() -> Path | None:
    """The folder of entries of a checkout, or None in an installed wheel."""
    return CHECKOUT if not PACK.exists() and CHECKOUT.is_dir() else None


def packs(*folders: Path) -> list[Pack]:
    """The shipped entries, then those of installed packages, of ``TROUBLESHOOT_ENTRIES`` and of the folders, each on top.

    The folder of a checkout's own entries is loaded anyway, and not twice. Raises `kb.problem.EntryError` with every problem
    when a folder's entries cannot be used, and `kb.errors.NoEntries` when a folder does not exist or nothing is shipped.
    """
    if PACK.exists():
        found = [Pack(PACK)]
    elif CHECKOUT.is_dir():
        found = [pack(CHECKOUT, "shipped", strict=False)]
    else:
        raise NoEntries(f"no entries: neither {PACK} nor {CHECKOUT} exists; install the package again")
    ours = shipped()
    for path, named_by, strict in entry_folders(folders):
        if not path.is_dir():
            raise NoEntries(f"{path}: no such folder of entries ({named_by}); expected <area>/<id>/entry.yaml below it")
        if ours is None or not path.samefile(ours):
            found.append(pack(path, str(path), strict=strict))
    return found


def knowledge(*folders: Path) -> Knowledge:
    """All packs of `packs` as one. Raises the errors of `packs`."""
    return Knowledge(packs(*folders))


def pack(folder: Path, origin: str, *, strict: bool = True) -> Pack:
    """The compiled form of a folder, from the cache when nothing in it changed; else only what changed is compiled.

    A faulty entry is an error when strict; otherwise it is left out, with a line on standard error. On a terminal a long
    compilation shows how far it is.
    """
    from kb.compile.state import FolderState

    state = FolderState(folder)
    name, compiler = _digest(str(folder.resolve())), _compiler()
    target = cache_folder() / f"{name}-{compiler}-{state.fingerprint()}.pack"

    def compiled(place: Path, last: Pack | None = None) -> Pack:
        from kb.compile.folder import compile_folder

        with _progress() as told:
            problems = compile_folder(state, place, last, strict=strict, progress=told)
        if problems:
            print(f"troubleshoot: left out faulty entries; see: troubleshoot check {folder}", file=sys.stderr)
        return Pack(place, origin, lambda: compiled(place))

    try:
        found = Pack(target, origin, lambda: compiled(target))
        used(target)
        return found
    except (OSError, ValueError):
        pass

    try:
        made = compiled(target, _last(target.parent, name, compiler))
    except OSError:  # the cache cannot be written: compile into a place that vanishes with the process
        import tempfile

        with tempfile.TemporaryDirectory() as place:
            return compiled(Path(place) / "knowledge.pack")
    _remove_older(target)
    tidy(target.parent)
    return made


def _last(cache: Path, folder: str, compiler: str) -> Pack | None:
    """The newest pack made by the same compiler: of this folder, else of another one, because a clone mostly has the
    same entries."""
    for wanted in (f"{folder}-{compiler}-*.pack", f"*-{compiler}-*.pack"):
        found = [(path.stat().st_mtime, path) for path in cache.glob(wanted)]
        for _, path in sorted(found, reverse=True):
            with suppress(OSError, ValueError):
                return Pack(path)
    return None


def _remove_older(target: Path) -> None:
    """Remove the folder's other packs, except the newest of them: another process may have begun to read that one."""
    folder = target.name.partition("-")[0]
    with suppress(OSError):
        others = [path for path in target.parent.glob(f"{folder}-*.pack") if path != target]
        for path in sorted(others, key=lambda path: path.stat().st_mtime)[:-1]:
            path.unlink()


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A function that shows on a terminal how many entries are compiled, once this takes noticeably long."""
    shown = False

    def tell(done: int, count: int) -> None:
        nonlocal shown
        if count >= _MANY and sys.stderr.isatty():
            shown = True
            print(
                f"\rtroubleshoot: compiling the entries, once: {done:,} of {count:,}",
                end="",
                file=sys.stderr,
                flush=True,
            )

    try:
        yield tell
    finally:
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def used(path: Path) -> None:
    """Record that a file of the cache is in use, by setting its time. This is done every few minutes only, because a cache may
    be shared and slow to write."""
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _NOTED_AGAIN_SECONDS:
            os.utime(path)


def tidy(folder: Path) -> None:
    """Remove what nobody used for `DAYS`, and of more than `MAX_CACHE_BYTES` or `MAX_CACHE_FILES` what was not used for longest.

    Called when a new one was written. What cannot be removed stays (a program that has it open, on Windows).
    """
    with suppress(OSError):
        found = []
        for item in os.scandir(folder):
            if item.name.endswith((".pack", ".hs")):
                state = item.stat()
                found.append((state.st_mtime, state.st_size, item.path))
        oldest = time.time() - DAYS * _DAY_SECONDS
        total = 0
        for number, (at, size, path) in enumerate(sorted(found, reverse=True)):
            total += size
            if at < oldest or (number and (total > MAX_CACHE_BYTES or number >= MAX_CACHE_FILES)):
                with suppress(OSError):
                    os.unlink(path)


COMPILING_FOLDERS = ("compile", "conditions")
COMPILING_MODULES = (
    "clean.py", "compiled.py", "compiled_conditions.py", "error_words.py", "errors.py", "files.py", "form.py", "form_texts.py", "forked.py", "lazy.py",
    "likeness.py", "literal_index.py", "load.py", "localized.py", "nearest.py", "patterns.py", "placeholders.py", "problem.py", "samples.py", "sealed.py",
    "search.py", "shown.py", "source.py", "standing.py", "versions.py", "wild.py",
)  # fmt: skip
"""The modules that decide what entries are compiled to, beside all in `COMPILING_FOLDERS`."""


def compiler_modules() -> list[Path]:
    """Every module whose change compiles all entries anew, in a fixed order (a test compares them with what is imported)."""
    here = Path(__file__).parent
    inside = (path for folder in COMPILING_FOLDERS for path in sorted((here / folder).glob("*.py")))
    return [*inside, *(here / name for name in COMPILING_MODULES)]


def _compiler() -> str:
    """A digest of the modules that compile entries, and of Python's own parser of patterns, which they use."""
    return _digest(f"{FORMAT} {sys.version_info[:2]}", *(path.read_bytes() for path in compiler_modules()))


def _digest(*parts: str | bytes) -> str:
    import hashlib

    made = hashlib.blake2b(digest_size=8)
    for part in parts:
        made.update(part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape"))
        made.update(b"\0")
    return made.hexdigest()
