"""The verdict on a hang in words, for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kb.text.catalog import Section
from troubleshooter.hang.collectives import MEETING, OUTSIDE, POLLS, STORE, WORK
from troubleshooter.hang.flight import Apart
from troubleshooter.hang.judge import HangVerdict
from troubleshooter.hang.owned import is_own
from troubleshooter.hang.source import source_line
from troubleshooter.hang.standing import Standing

say = Section("hang")
MOST_RANKS = 16
MOST_TASKS = 4


def lines(verdict: HangVerdict, lang: str) -> list[str]:
    """The verdict as lines of text, the most important first."""
    told: list[str] = []
    if verdict.missing:
        told.append(say("gone" if verdict.cause == "ended" else "absent", lang, ranks=_numbers(verdict.missing)))
    elif len(verdict.late) == len(verdict.standing) == 1 and not verdict.waiting:  # no other rank is there to meet
        told.append(say("stands" if verdict.processes else "alone", lang, rank=verdict.late[0].rank.number))
    elif verdict.late:
        told.append(say("late", lang, ranks=_numbers([one.rank.number for one in verdict.late])))
    elif verdict.standing:
        told.append(say("all-wait", lang) if verdict.waiting else say("stands", lang))
    else:
        told.append(say("no-rank" if verdict.cause == "meeting" else "no-rank-found", lang))
    if verdict.standing or verdict.missing or verdict.cause == "meeting":
        unset = verdict.cause == "meeting" and verdict.collective == STORE
        told.append(say("cause-unset" if unset else f"cause-{verdict.cause}", lang))
    for loop in verdict.loops[:MOST_RANKS]:
        place = f"{loop.frame.file}:{loop.first_line}"
        told.append(
            say(
                "endless-loop", lang, rank=loop.rank, package=loop.package, function=loop.frame.function, place=place, looks=loop.looks,
                seconds=round(loop.seconds),
            )
        )  # fmt: skip
    for one in (verdict.late or (verdict.standing if not verdict.waiting else []))[:MOST_RANKS]:
        told += _where(one, lang, "stands-at")
    for other in verdict.processes[:MOST_RANKS]:
        place = str(other.stack[0]) if other.stack else "?"
        told.append("  " + say("process-at", lang, pid=other.pid, name=other.name, place=place))
    if verdict.waiting:
        first = verdict.waiting[0]
        numbers = _numbers([one.rank.number for one in verdict.waiting])
        told.append(say("wait-in", lang, ranks=numbers, collective=_collective(verdict.collective, lang)))
        told += _where(first, lang, "wait-at")
    if verdict.apart is not None:
        told += difference(verdict.apart, lang)
    return told


def _where(one: Standing, lang: str, key: str) -> list[str]:
    """The line of a rank's own code, and the innermost frame if that is another one."""
    out = []
    if one.own is not None:
        code = source_line(one.own)
        out.append(
            "  " + say(key, lang, rank=one.rank.number, place=str(one.own)) + (f"\n      {code}" if code else "")
        )
    if one.innermost is not None and one.innermost != one.own:
        out.append("  " + say("inside", lang, place=str(one.innermost)))
    tasks = dict.fromkeys(own for task in one.rank.tasks if (own := next(filter(is_own, task), None)) is not None)
    for own in [*tasks][:MOST_TASKS]:
        code = source_line(own)
        out.append("  " + say("task-at", lang, place=str(own)) + (f"\n      {code}" if code else ""))
    if one.rank.program:
        out.append("  " + say("program", lang, rank=one.rank.number, pid=one.rank.pid, name=one.rank.program))
    if one.rank.kernel and not one.collective:
        out.append("  " + say("kernel", lang, name=one.rank.kernel, state=one.rank.state))
    return out


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, sorted(numbers)[:MOST_RANKS]))
    return shown + (" …" if len(numbers) > MOST_RANKS else "")


def _collective(name: str, lang: str) -> str:
    return say(name, lang) if name in ("backward", MEETING, OUTSIDE, POLLS, STORE, WORK) else name


def difference(apart: Apart, lang: str) -> list[str]:
    """The first difference between the dumps of the Flight Recorder, as lines of text."""
    told = [say(f"flight-{apart.what}", lang, number=apart.number, group=apart.group)]
    for rank, one in list(apart.by_rank.items())[:MOST_RANKS]:
        what = (
            say("flight-none", lang)
            if one is None
            else f"{one.operation} {one.inputs} {one.dtypes} ({one.state}) {one.place}".rstrip()
        )
        told.append(f"  rank {rank}: {what}")
    return told


def as_dict(verdict: HangVerdict) -> dict[str, Any]:
    """The verdict as plain data."""
    return {
        "cause": verdict.cause,
        "late": [one.rank.number for one in verdict.late],
        "missing": verdict.missing,
        "waiting": [one.rank.number for one in verdict.waiting],
        "collective": verdict.collective,
        "differs": None if verdict.apart is None else {
            "what": verdict.apart.what, "group": verdict.apart.group, "number": verdict.apart.number,
            "ranks": {str(rank): f"{one.operation} {one.inputs} {one.dtypes}" for rank, one in verdict.apart.by_rank.items() if one is not None},
        },
        "loops": [
            {
                "rank": loop.rank, "package": loop.package, "function": loop.frame.function, "file": loop.frame.file, "line": loop.first_line,
                "looks": loop.looks, "seconds": round(loop.seconds, 1),
            }
            for loop in verdict.loops
        ],
        "ranks": [
            {
                "rank": one.rank.number, "pid": one.rank.pid, "state": one.rank.state, "cpu": round(one.rank.cpu, 2),
                "kernel": one.rank.kernel, "collective": one.collective, "own": _frame(one.own), "stack": [_frame(f) for f in one.rank.stack[:40]],
            }
            for one in verdict.standing
        ],
        "no_ranks": None if verdict.standing or verdict.missing else _why_no_ranks(verdict),
        "processes": [
            {
                "pid": one.pid, "name": one.name, "state": one.state, "kernel": one.kernel, "stack": [_frame(f) for f in one.stack[:40]],
            }
            for one in verdict.processes
        ],
    }  # fmt: skip


def _why_no_ranks(verdict: HangVerdict) -> str:
    return "the launcher waits for those of other nodes" if verdict.cause == "meeting" else "no process has a rank"


def _frame(frame: Any) -> dict[str, Any] | None:
    return None if frame is None else {"file": frame.file, "line": frame.line, "function": frame.function}
