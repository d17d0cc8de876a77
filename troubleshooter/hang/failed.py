"""Ranks whose program has failed, but whose process does not leave: a thread, an upload or a child process of it still holds it. Ranks that
wait for a pool whose workers fail again and again."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from troubleshooter.hang.judge import HangVerdict
from troubleshooter.hang.ranks import Rank


def with_failed(verdict: HangVerdict, ranks: Sequence[Rank], folder: Path | None) -> HangVerdict:
    """The verdict, if the hook's files tell that nothing caught an exception of late ranks: these are the late ones, and have ended."""
    failed = {rank.number for rank in ranks if folder is not None and _has_failed(rank, folder)}
    late = [one for one in verdict.late if one.rank.number in failed]
    return verdict._replace(cause="ended", late=late) if late else verdict


_POOLS = ("multiprocessing/pool.py", "multiprocess/pool.py")
LEAST_FAILED = 16
"""So many workers of a pool failed, and are gone. It starts a new one for each, and never ends if that fails, too. What a worker does for the pool cannot end it."""


def awaits_failing_pool(rank: Rank, alive: Collection[int], folder: Path | None) -> bool:
    """Whether a rank waits for a pool whose workers failed one after the other, as the hook's files tell."""
    if folder is None or not any(frame.file.replace("\\", "/").endswith(_POOLS) for frame in rank.stack):
        return False
    found = {path.name.split(".")[0].split("-")[1] for path in folder.glob(f"{rank.number}-*.crash.json")}
    return len(found - {str(pid) for pid in alive}) >= LEAST_FAILED


def _has_failed(rank: Rank, folder: Path) -> bool:
    """Whether an exception came to the end of a rank's main thread. After that Python only ends what is left."""
    for path in folder.glob(f"*-{rank.pid}.crash.json"):
        with suppress(OSError, ValueError):
            facts = json.loads(path.read_text())
            if isinstance(facts, dict) and facts.get("how") == "uncaught":
                return True
    return False
