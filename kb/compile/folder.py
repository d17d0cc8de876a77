"""Compile a folder of entries to one pack file. Entries that did not change are taken from the folder's last pack."""

from __future__ import annotations

import gc
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path

from kb import source
from kb.compile.entry import Unit, compile_entry
from kb.compile.link import Kept, link
from kb.compile.state import FolderState, digest
from kb.compile.tables import compile_table
from kb.compiled import Pack
from kb.files import Refused, contents
from kb.forked import mapped
from kb.load import MAX_SAMPLES_BYTES, Library, load_entry
from kb.problem import EntryError, Problem
from kb.sealed import seal
from kb.versions import release

Progress = Callable[[int, int], None]
"""Told how many entries are compiled, of how many."""

MIN_PARALLEL = 200
"""Entries to compile from which on a second process pays."""
CHUNK = 50
"""Entries that a process compiles at a time."""
_json = json.JSONEncoder(ensure_ascii=False).encode
_LINKED = tuple(item.name for item in fields(Unit) if item.name not in ("matched", "texts", "search"))


def compile_to(library: Library, target: Path, date: str | None = None) -> None:
    """Write the pack of loaded entries. Raises `EntryError` when the library has problems, OSError when it cannot write.

    ``date``: the day of the last recorded change of the entries (``2026-11-23``), where it is known.
    """
    entries = library.need().entries
    units = [compile_entry(entries[id_]) for id_ in sorted(entries)]
    tables = {name: compile_table(path) for name, path in library.tables.items()}
    write(target, link(units, tables, newest_releases(library.tables), date=date))


def write(target: Path, data: bytes) -> None:
    """Write a sealed file (`kb.sealed`); others see the whole of it or nothing. Raises OSError."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=target.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(seal(data))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def newest_releases(tables: Mapping[str, Path]) -> dict[str, str]:
    """By package, the newest release that the tables were made from: what the knowledge was checked against."""
    path = tables.get("api/scanned")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()] if path else []
    return {row["package"].replace("_", "-"): max(row["versions"], key=release) for row in rows if row.get("versions")}


@dataclass(slots=True)
class _Kept:
    """A unit, with what tells whether its entry changed: its files by size and time, else by content."""

    unit: Unit
    stamp: str
    content: str
    row: str = ""
    """The line of JSON that held all this in the last pack; empty if it does not hold any more."""


def compile_folder(
    state: FolderState, target: Path, last: Pack | None = None, *, strict: bool = True, progress: Progress | None = None
) -> list[Problem]:
    """Write the pack of a folder of entries, and return the problems of entries that were left out.

    ``last`` is the folder's last pack: entries that did not change are taken from it. Faulty entries raise `EntryError`
    when ``strict``, otherwise they are left out. Raises OSError when the pack cannot be written.
    """
    with _no_garbage_collection():
        kept, kept_tables, known, shared = _last(last)
        units: dict[str, _Kept] = {}
        changed: list[str] = []
        for path, stamp in state.entries.items():
            if (found := kept.get(path)) is not None:
                if found.stamp != stamp and found.content == _content(state.folder / path):
                    found.stamp, found.row = stamp, ""
                if found.stamp == stamp:
                    units[path] = found
                    continue
            changed.append(path)
        problems: list[Problem] = []
        for path, unit, content, faults in _compiled(state.folder, sorted(changed), progress):
            problems += faults
            if unit is not None:
                units[path] = _Kept(unit, state.entries[path], content)
        problems += _taken_twice(state.folder, units)
        changed_tables = {
            name: path for name, (path, told) in state.tables.items() if kept_tables.get(name, ("",))[0] != told
        }
        faulty = {
            name: faults for name, path in changed_tables.items() if (faults := source.rows(path, state.folder)[1])
        }
        problems += [fault for faults in faulty.values() for fault in faults]
        if problems and strict:
            raise EntryError(problems)
        tables = {
            name: compile_table(path) if name in changed_tables else kept_tables[name][1]
            for name, (path, _) in state.tables.items()
            if name not in faulty
        }
        inside = sorted(units.items(), key=lambda item: item[1].unit.id)
        again = Kept(
            {name: told for name, (_, told) in state.tables.items() if name not in faulty},
            [item.row or _row(path, item) for path, item in inside],
        )
        checked = newest_releases({name: path for name, (path, _) in state.tables.items() if name not in faulty})
        touched = {
            text
            for path in (kept.keys() | units.keys())
            if kept.get(path) is not units.get(path)
            for item in (kept.get(path), units.get(path))
            if item is not None
            for text in item.unit.literals
        }
        linked = [item.unit for _, item in inside]
        write(target, link(linked, tables, checked, known=known, before=shared, touched=touched, kept=again))
        return problems


def _last(
    pack: Pack | None,
) -> tuple[dict[str, _Kept], dict[str, tuple[str, bytes]], list[str], dict[str, bool]]:
    """What the last pack of a folder keeps: units by path, tables by name, the literals of the first segment, and which
    words were found to be shared."""
    if pack is None or not (lines := pack.index.kept()):
        return {}, {}, [], {}
    whole, rows = json.loads(lines[0]), lines[1:]
    _, *terms = pack.index.search_terms()
    kept = {}
    for number, (row, term, parsed) in enumerate(zip(rows, terms, json.loads(f"[{','.join(rows)}]"), strict=True)):
        path, stamp, content, *linked = parsed
        matched, texts = pack.parts(number)
        unit = Unit(matched=matched, texts=texts, search=term, **dict(zip(_LINKED, linked, strict=True)))
        kept[path] = _Kept(unit, stamp, content, row)
    tables = {name: (told, pack.table(name)) for name, told in whole["tables"].items()}
    return kept, tables, pack.index.literals[: pack.segments[0][1]], whole["shared"]


def _row(path: str, item: _Kept) -> str:
    return _json([path, item.stamp, item.content, *(getattr(item.unit, name) for name in _LINKED)])


def _compiled(
    folder: Path, paths: Sequence[str], progress: Progress | None
) -> Iterator[tuple[str, Unit | None, str, list[Problem]]]:
    """Each entry of these folders: its unit or None, a digest of its files, its problems."""
    chunks = [[folder / path for path in paths[i : i + CHUNK]] for i in range(0, len(paths), CHUNK)]
    processes = (os.cpu_count() or 1) if len(paths) >= MIN_PARALLEL else 0
    done = 0
    for chunk, results in zip(chunks, mapped(partial(_compile_chunk, folder), chunks, processes), strict=True):
        done += len(chunk)
        if progress is not None:
            progress(done, len(paths))
        for path, result in zip(chunk, results, strict=True):
            # A folder may be one entry itself, which `FolderState` calls "".
            yield ("" if path == folder else path.relative_to(folder).as_posix(), *result)


def _compile_chunk(root: Path, folders: list[Path]) -> list[tuple[Unit | None, str, list[Problem]]]:
    out = []
    for folder in folders:
        content = _content(folder)  # before the entry is read: a change in between is then seen the next time
        loaded, problems = load_entry(folder / "entry.yaml", root)
        out.append((compile_entry(loaded) if loaded is not None and not problems else None, content, problems))
    return out


def _content(folder: Path) -> str:
    """A digest of names and contents of an entry's files; what may not be read counts by its name."""
    parts: list[str | bytes] = []
    for path in sorted(folder.rglob("*")):
        parts.append(path.relative_to(folder).as_posix())
        if path.is_file() and not path.is_symlink():
            with suppress(OSError, Refused):
                parts.append(contents(path, folder, MAX_SAMPLES_BYTES))
    return digest(*parts)


def _taken_twice(folder: Path, units: dict[str, _Kept]) -> list[Problem]:
    """Problems of ids that two entries have; the later of them is left out."""
    found: dict[str, str] = {}
    problems = []
    for path in sorted(units):
        if (other := found.setdefault(units[path].unit.id, path)) != path:
            where = folder / path / "entry.yaml"
            text = f"id {units[path].unit.id!r} is taken by {folder / other / 'entry.yaml'}"
            problems.append(Problem(where, 1, 1, "id", text, "ids are unique"))
    for problem in problems:
        del units[problem.path.parent.relative_to(folder).as_posix()]
    return problems


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Linking makes a million objects and no cycles, so the collector would search them in vain (docs/decisions/0002)."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
