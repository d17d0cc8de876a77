"""Read the dumps of torch's Flight Recorder as data. The unpickler builds plain types only."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from kb.errors import TroubleshootError

MAX_BYTES = 256 << 20
_RANK = re.compile(r"(\d{1,6})(?:\.\w{1,10})?$")


class BadDump(TroubleshootError):
    """The file is no dump of the Flight Recorder. The message names the file and the next step."""


class _Plain(pickle.Unpickler):
    """Builds dicts, lists, tuples, texts and numbers. A class or function in the file is refused, not imported."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module[:40]}.{name[:40]}, and a dump holds plain data")


class Collective(NamedTuple):
    """A collective as one rank recorded it. ``number`` counts those of its group; ``place`` is the own code's line."""

    number: int
    group: str
    operation: str
    state: str
    inputs: str
    dtypes: str
    place: str


class RankDump(NamedTuple):
    rank: int
    collectives: list[Collective]


def read_dump_file(path: Path) -> RankDump:
    """The collectives of one rank. Raises `BadDump`."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise BadDump(f"{path}: larger than {MAX_BYTES >> 20} MiB, so no dump of the Flight Recorder")
        with path.open("rb") as file:
            found = _Plain(file).load()
        rows = found["entries"]
        if not isinstance(rows, list):
            raise TypeError("entries")
        collectives = [_collective(row) for row in rows if isinstance(row, dict)]
    except OSError as error:
        raise BadDump(f"{path}: cannot be read: {error.strerror or error}") from error
    except BadDump:
        raise
    except Exception as error:  # an unpickler may raise any exception for damaged data
        raise BadDump(f"{path}: no dump of the Flight Recorder: {str(error)[:200] or type(error).__name__}") from error
    named = found.get("rank")
    match = _RANK.search(path.name)
    return RankDump(named if isinstance(named, int) else int(match[1]) if match else 0, collectives)


def _collective(row: dict[str, Any]) -> Collective:
    frames = row.get("frames")
    place = ""
    for frame in frames if isinstance(frames, list) else ():
        if isinstance(frame, dict) and "site-packages" not in (file := str(frame.get("filename", ""))) and file:
            place = f"{file}:{frame.get('line', 0)}, {frame.get('name', '')}"[:300]
            break
    group = row.get("process_group")
    return Collective(
        int(row.get("collective_seq_id", row.get("seq_id", 0)) or 0),
        str(group[0] if isinstance(group, (tuple, list)) and group else row.get("pg_id", ""))[:40],
        str(row.get("profiling_name", "")).rpartition(":")[2][:80],
        str(row.get("state", ""))[:20],
        str(row.get("input_sizes", ""))[:200],
        str(row.get("input_dtypes", ""))[:80],
        place,
    )


class Apart(NamedTuple):
    """The first collective of a group that differs between ranks. ``by_rank``: what each rank recorded, None if nothing."""

    group: str
    number: int
    what: str
    by_rank: dict[int, Collective | None]


def first_difference(dumps: Sequence[RankDump]) -> Apart | None:
    """The first difference between the ranks: one lacks a collective, or has another one or other sizes; None without a difference.

    ``what`` is ``missing``, ``operation``, ``sizes`` or ``unfinished``. A ring buffer forgets: only what all still hold is compared.
    """
    by_group: dict[str, dict[int, dict[int, Collective]]] = {}
    for dump in dumps:
        for one in dump.collectives:
            by_group.setdefault(one.group, {}).setdefault(dump.rank, {})[one.number] = one
    for group, ranks in sorted(by_group.items()):
        if len(ranks) < 2:
            continue
        start = max(min(numbers) for numbers in ranks.values())
        end = max(max(numbers) for numbers in ranks.values())
        for number in range(start, end + 1):
            seen = {rank: numbers.get(number) for rank, numbers in sorted(ranks.items())}
            held = [one for one in seen.values() if one is not None]
            what = (
                "missing" if None in seen.values()
                else "operation" if len({one.operation for one in held}) > 1
                else "sizes" if len({(one.inputs, one.dtypes) for one in held}) > 1 and held[0].operation not in ("scatter", "gather", "all_to_all")
                else "unfinished" if any(one.state != "completed" for one in held)
                else ""
            )  # fmt: skip
            if what and held:
                return Apart(group, number, what, seen)
    return None
