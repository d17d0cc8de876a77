"""``troubleshoot hang``: where the ranks of a running job are, or where the Flight Recorder's dumps of a dead job differ."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from kb.errors import UsageError
from kb.text.catalog import Section
from troubleshooter.hang.flight import first_difference, read_dump_file
from troubleshooter.hang.notice import folder_of, verdict_now
from troubleshooter.hang.tell import as_dict, difference, lines

say = Section("hang")


def hang(targets: list[str], format: str, lang: str) -> int:
    """Print where the processes are, or where the dumps differ. Returns 3 if a rank differs from the others, else 0.

    Raises `UsageError` and `BadDump`.
    """
    if all(target.isdecimal() for target in targets):
        return _processes([int(target) for target in targets], format, lang)
    return _dumps([Path(target) for target in targets], format, lang)


def _processes(pids: list[int], format: str, lang: str) -> int:
    if not sys.platform.startswith("linux"):
        raise UsageError("hang PID: needs Linux (/proc); on this system, use: py-spy dump --pid PID")
    for pid in pids:
        if not os.path.isdir(f"/proc/{pid}"):
            raise UsageError(f"hang {pid}: there is no such process; give the launcher's number, or that of each rank")
    folder = next((found for pid in pids if (found := folder_of(pid)) is not None), None)
    verdict = verdict_now(pids, folder)
    if verdict is None:
        raise UsageError(
            f"hang {' '.join(map(str, pids))}: no stacks can be read; start the job under: troubleshoot run -- COMMAND, or install py-spy"
        )
    if format == "json":
        print(json.dumps(as_dict(verdict)))
    else:
        print("\n".join(lines(verdict, lang)))
    return 3 if verdict.late or verdict.missing or verdict.waiting or not verdict.standing else 0


def _dumps(paths: list[Path], format: str, lang: str) -> int:
    files = [
        file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path]) if not file.is_dir()
    ]
    dumps = [read_dump_file(file) for file in files]
    apart = first_difference(dumps)
    if format == "json":
        found = None
        if apart is not None:
            by_rank = {str(rank): None if one is None else one._asdict() for rank, one in apart.by_rank.items()}
            found = {"group": apart.group, "number": apart.number, "what": apart.what, "ranks": by_rank}
        print(json.dumps({"dumps": len(dumps), "apart": found}))
    else:
        print("\n".join(difference(apart, lang)) if apart is not None else say("flight-same", lang, count=len(dumps)))
    return 3 if apart is not None else 0
