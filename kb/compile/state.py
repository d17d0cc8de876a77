"""The state of a folder of entries: the files that compiling reads, with their sizes and times."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

TABLES = "tables"
"""The folder of tables below a folder of entries."""


class FolderState:
    """The files of a folder of entries, by size and time: what compiling reads, without reading it."""

    def __init__(self, folder: Path) -> None:
        """Look at every file below the folder. Raises OSError for a folder that cannot be listed."""
        self.folder = folder
        self.entries: dict[str, str] = {}
        """By path of an entry's folder, relative to ``folder``: a digest of names, sizes and times of its files."""
        self.tables: dict[str, tuple[Path, str]] = {}
        """By name: the table's file, and its size and time."""
        files: dict[str, list[str]] = {}
        stack: list[tuple[str, str]] = [(str(folder), "")]
        while stack:
            here, entry = stack.pop()
            with os.scandir(here) as inside:
                items = list(inside)
            if not entry and any(item.name == "entry.yaml" for item in items):
                entry = here
            for item in items:
                if item.is_dir(follow_symlinks=False):
                    stack.append((item.path, entry))
                else:
                    status = item.stat(follow_symlinks=item.is_file())
                    told = f"{status.st_size} {status.st_mtime_ns}"
                    if entry:
                        files.setdefault(entry, []).append(f"{item.path[len(entry) :]} {told}")
                    elif item.name.endswith((".yaml", ".jsonl")):
                        self._add_table(Path(item.path), told)
        for entry, told_files in files.items():
            self.entries[entry[len(str(folder)) + 1 :]] = digest("\n".join(sorted(told_files)))

    def _add_table(self, path: Path, told: str) -> None:
        first, *rest = path.relative_to(self.folder).parts
        if first == TABLES and rest:
            self.tables[Path(*rest).with_suffix("").as_posix()] = path, told

    def fingerprint(self) -> str:
        """Differs when a file was added, removed or changed."""
        tables = [f"{name} {told}" for name, (_, told) in sorted(self.tables.items())]
        return digest("\n".join(f"{path} {told}" for path, told in sorted(self.entries.items())), "\n".join(tables))


def digest(*parts: str | bytes) -> str:
    """A digest of texts and bytes, each told from its neighbours."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode("utf-8", "surrogateescape")
        made.update(len(data).to_bytes(8, "little"))
        made.update(data)
    return made.hexdigest()
