"""The list of jobs, in the order of their names. It takes the same memory for a hundred files as for a million."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from troubleshooter.read.folder import named_like_crash_facts
from troubleshooter.read.sources import FILES_OF_FACTS
from troubleshooter.scan.runs import folder_of, run_of, run_of_facts
from troubleshooter.scan.table import TemporaryTable, packed, unpacked

_LOG, _FACTS, _FACTS_OF_NOBODY = range(3)
_COLUMNS = "run, kind, path, stamp, modified, bytes, identity, PRIMARY KEY (run, kind, path)"


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """One run: its name (the path that its files share) and its files."""

    name: str
    files: tuple[str, ...]
    stamp: str
    """Size and time of every file. A job whose stamp changed is diagnosed again."""
    modified: float
    """When the newest file was changed, in seconds since 1970."""
    size_bytes: int = 0
    """The size of all files together, as they are stored (a compressed one counts what it takes on disk)."""


class FoundFile(NamedTuple):
    """A file that was found, with what tells a change of it. Two names of one file have the same ``identity``, if any."""

    path: str
    stamp: str
    modified: float
    size_bytes: int
    identity: str | None = None


class JobList:
    """Files are added in any order; then `claim_facts` is called, and the jobs can be read, again and again."""

    def __init__(self) -> None:
        self._table = TemporaryTable(_COLUMNS)
        self._count = 0

    def add(self, files: Iterable[FoundFile]) -> None:
        """Add files; the last one of a path counts. ``files`` may ask `holds` of those before."""
        self._table.add(map(_stored, files), 7)

    def find_names(self) -> None:
        """Prepare for many questions to `holds`."""
        self._table.do("CREATE INDEX by_identity ON kept (identity)")

    def holds(self, identity: str) -> bool:
        """Whether a file with this identity was added."""
        return any(self._table.ask("SELECT 1 FROM kept WHERE identity = ?", identity))

    def claim_facts(self, left_out: Callable[[str], None]) -> None:
        """Give crash facts to their runs; the paths of those that belong to no run are told to ``left_out``."""
        some = f"kept WHERE run = x'' AND kind = {_FACTS_OF_NOBODY}"
        if any(self._table.ask(f"SELECT 1 FROM {some} LIMIT 1")):
            self._table.function("folder_of", lambda path: packed(folder_of(unpacked(path))))
            self._table.do(f"CREATE INDEX by_folder ON kept (folder_of(path), run) WHERE kind = {_LOG}")

            def claimed() -> Iterator[tuple[Any, ...]]:
                for row in self._table.ask(f"SELECT * FROM {some} ORDER BY path"):
                    path = unpacked(row[2])
                    run = run_of_facts(path, self._has_log, self._runs_in)
                    if run is None:
                        left_out(path)
                    else:
                        yield packed(run), _FACTS, *row[2:]

            self._table.add(claimed(), 7)
        [(self._count,)] = self._table.ask(f"SELECT count(DISTINCT run) FROM kept WHERE kind != {_FACTS_OF_NOBODY}")

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Job]:
        rows = self._table.ask(
            f"SELECT run, kind, path, stamp, modified, bytes FROM kept WHERE kind != {_FACTS_OF_NOBODY} ORDER BY run, kind, path"
        )
        for run, of_run in groupby(rows, itemgetter(0)):
            files = list(of_run)
            del files[sum(kind == _LOG for _, kind, *_ in files) + FILES_OF_FACTS :]
            yield Job(
                unpacked(run), tuple(unpacked(file[2]) for file in files), ";".join(unpacked(file[3]) for file in files),
                max(file[4] for file in files), sum(file[5] for file in files),
            )  # fmt: skip

    def _has_log(self, path: str) -> bool:
        wanted = packed(run_of(path)), packed(path)
        return any(self._table.ask(f"SELECT 1 FROM kept WHERE run = ? AND kind = {_LOG} AND path = ?", *wanted))

    def _runs_in(self, folder: str) -> list[str]:
        """The runs with a log in this folder: the first, and the last if that is another."""
        asked = f"SELECT run FROM kept WHERE folder_of(path) = ? AND kind = {_LOG} ORDER BY run"
        ends = [row[0] for way in ("ASC", "DESC") for row in self._table.ask(f"{asked} {way} LIMIT 1", packed(folder))]
        return [unpacked(run) for run in dict.fromkeys(ends)]


def _stored(file: FoundFile) -> tuple[Any, ...]:
    modified = file.modified if math.isfinite(file.modified) else 0.0
    if named_like_crash_facts(file.path.replace("\\", "/").rpartition("/")[2]):
        run, kind = b"", _FACTS_OF_NOBODY
    else:
        run, kind = packed(run_of(file.path)), _LOG
    return run, kind, packed(file.path), packed(file.stamp), modified, file.size_bytes, file.identity
