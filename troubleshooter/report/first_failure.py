"""Which rank of a run failed first, and which ranks followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from troubleshooter.observe.exits import SIGNALS
from troubleshooter.report.evidence import file_name

if TYPE_CHECKING:
    from troubleshooter.observe.model import Failure
    from troubleshooter.observe.observations import Observations
    from troubleshooter.read.line import Line
    from troubleshooter.report.parts import FirstFailure, RankFailure

MAX_RANKS = 256
"""At most this many ranks are listed."""


def first_failure(observations: Observations, names: list[str]) -> FirstFailure | None:
    """Which rank failed first, and which followed; None if the log does not show it. ``names``: the inputs' names by file number."""
    ranked = [f for f in observations.failures if f.ranks and f.role in ("initiating", "cascade")]
    if not ranked:
        return None
    first = min(ranked, key=lambda f: (f.role != "initiating", f.line.number))
    rivals = [f for f in observations.failures if f.role == "initiating" and f.line.file != first.line.file]
    if rivals and (first.role != "initiating" or any(f.ranks for f in rivals)):
        return None  # the lines of several files have no order
    if first.role == "cascade" and any(f.exception.endswith("SignalException") for f in observations.failures):
        return None  # the launcher was told to stop, and ended its ranks
    failed = _failed(ranked, names)
    silent = _ended_silently(observations, first) if first.role == "cascade" else None
    if silent is not None:
        begun = _killed(silent, names)
        return {
            "rank": begun["rank"], "line": begun["line"], "file": begun["file"], "exception": begun["exception"],
            "followed": sorted(failed), "order": [begun, *sorted(failed.values(), key=lambda one: one["line"])][:MAX_RANKS],
        }  # fmt: skip
    rank = first.line.rank
    return {
        "rank": rank, "line": first.line.number, "file": file_name(names, first.line.file), "exception": first.exception,
        "followed": sorted({r for f in ranked for r in f.ranks} - {rank}),
        "order": sorted(failed.values(), key=lambda one: (one["rank"] != rank, one["line"]))[:MAX_RANKS],
    }  # fmt: skip


def _failed(ranked: list[Failure], names: list[str]) -> dict[int, RankFailure]:
    """By rank: its first failure."""
    found: dict[int, RankFailure] = {}
    for failure in ranked:
        for rank, line in failure.seen_at.items():
            if rank not in found or line < found[rank]["line"]:
                found[rank] = {
                    "rank": rank, "line": line, "role": failure.role, "exception": failure.exception,
                    "file": file_name(names, failure.line.file),
                }  # fmt: skip
    return found


def _killed(end: _End, names: list[str]) -> RankFailure:
    signal = next((name for name, number in SIGNALS.items() if number == -end.status), "")
    return {
        "rank": end.rank, "line": end.line.number, "role": "initiating", "exception": signal, "file": file_name(names, end.line.file),
    }  # fmt: skip


class _End(NamedTuple):
    """How a launcher saw a rank end."""

    rank: int
    status: int
    line: Line


def _ended_silently(observations: Observations, first: Failure) -> _End | None:
    """The rank that a launcher saw end first, if it printed no error of its own and the errors of the others are after-effects."""
    ends = (_End(one.rank, one.status, one.line) for one in observations.exits if one.rank is not None)
    ended = min(
        (one for one in ends if one.line.file == first.line.file), key=lambda one: one.line.number, default=None
    )
    spoke = {rank for failure in observations.failures for rank in failure.ranks}
    return ended if ended is not None and ended.rank not in spoke else None
