"""What torch has recorded of the collectives of ranks that wait: which one each is in, and with how large a tensor. Their hooks tell it."""

from __future__ import annotations

import json
import os
import stat
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from troubleshooter.hang.collectives import MEETING, POLLS, STORE
from troubleshooter.hang.doing import Cause
from troubleshooter.hang.flight import Apart, Collective
from troubleshooter.hang.judge import HangVerdict
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.stacks import Stack, StackFrame

ANSWER_SECONDS = 3.0
MOST_BEFORE = 64
"""So many earlier collectives at most tell what is usual after them."""
MAX_BYTES = 4 << 20
_OWN_SIZES = frozenset(("gather", "scatter", "all_to_all", "alltoall", "alltoall_base"))
"""What may bring other sizes on each rank."""


class Forming(NamedTuple):
    """A group that a rank forms, and its own number among all ranks."""

    ranks: frozenset[int]
    own: int


class RankRecord(NamedTuple):
    """What one rank tells. ``groups``: the ranks of each group that it knows. ``root``: from which rank, or to which, its collective goes. ``forms``: the
    group that it is forming. ``tasks``: where the tasks of its event loop stand."""

    groups: Mapping[str, frozenset[int]]
    collectives: Sequence[Collective]
    root: int | None = None
    forms: Forming | None = None
    tasks: Sequence[Stack] = ()


class Waits(NamedTuple):
    """A group in whose collective ranks wait. ``absent``: its ranks that have not come to it."""

    group: str
    number: int
    members: frozenset[int]
    absent: frozenset[int]


def with_recorded(verdict: HangVerdict, ranks: Sequence[Rank], folder: Path | None) -> HangVerdict:
    """The verdict on ranks that all wait in collectives, by what is recorded of these. Stacks tell where the ranks went apart, but not if all are at the
    same line, and not which group they wait in."""
    if not _is_asked(verdict):
        return verdict
    records = ask(ranks, folder)
    if len(records) < len(ranks):
        return verdict
    waits = waiting(records)
    if late := absent_from_groups(waits):
        return named(verdict, "branch", late)
    if (verdict.late and not verdict.guessed) or len(waits) != 1:
        return verdict
    (one,) = waits
    here = {
        rank: found
        for rank, record in records.items()
        if (found := next((c for c in record.collectives if (c.group, c.number) == (one.group, one.number)), None))
    }
    if verdict.guessed:
        late = off_the_usual_way(here, records) if here.keys() == records.keys() else frozenset()
        return named(verdict, verdict.cause, late) if late else verdict
    usual = Counter(collective.operation for record in records.values() for collective in record.collectives)
    if len({found.operation for found in here.values()}) > 1:
        late = _fewest({rank: found.operation for rank, found in here.items()}, usual)
        told = named(verdict, "branch", late)
        return told._replace(apart=Apart(one.group, one.number, "operation", dict(here)))
    sizes = {rank: f"{found.inputs} {found.dtypes}" for rank, found in here.items()}
    if len({*sizes.values()}) > 1 and not any(found.operation in _OWN_SIZES for found in here.values()):
        told = named(verdict, "shapes", _fewest(sizes, Counter()))
        return told._replace(apart=Apart(one.group, one.number, "sizes", dict(here)))
    roots = {rank: str(record.root) for rank, record in records.items() if record.root is not None}
    late = _fewest(roots, Counter()) if len(roots) == len(records) else frozenset()
    return named(verdict, "branch", late) if late else verdict


def _is_asked(verdict: HangVerdict) -> bool:
    return (
        len(verdict.standing) > 1
        and not verdict.missing
        and all(one.collective not in ("", MEETING, STORE, POLLS) for one in verdict.standing)
        and all(one.rank.numbered for one in verdict.standing)
    )


def waiting(records: Mapping[int, RankRecord]) -> list[Waits]:
    """The groups in whose collectives ranks wait, each with the first such collective."""
    first: dict[str, int] = {}
    last: dict[tuple[str, int], int] = {}
    members: dict[str, frozenset[int]] = {}
    for rank, record in records.items():
        members.update(record.groups)
        for one in record.collectives:
            last[one.group, rank] = max(one.number, last.get((one.group, rank), 0))
            if one.state != "completed":
                first[one.group] = min(one.number, first.get(one.group, one.number))
    return [
        Waits(
            group, number, members[group],
            frozenset(rank for rank in members[group] & records.keys() if last.get((group, rank), 0) < number),
        )
        for group, number in sorted(first.items())
        if group in members
    ]  # fmt: skip


def absent_from_groups(waits: Sequence[Waits]) -> frozenset[int]:
    """The ranks for which others wait, if these wait in several groups. The smallest group tells most of who belongs to it; of groups of one size
    that which lacks the fewest. A rank that itself waits in so small a group is held up by another one. Empty if several ranks could be meant."""
    if len(waits) < 2:
        return frozenset()
    lacking = sorted((len(one.members), len(one.absent), sorted(one.absent)) for one in waits if one.absent)
    best = [set(absent) for size, count, absent in lacking if (size, count) == lacking[0][:2]]
    counted = Counter(rank for absent in best for rank in absent).most_common()
    if not counted:
        return frozenset()
    most = frozenset(rank for rank, times in counted if times == counted[0][1])
    if any(most == absent for absent in best):
        return most
    held_up = {rank for one in waits if len(one.members) == lacking[0][0] for rank in one.members - one.absent}
    return most - held_up if any(most - held_up == absent for absent in best) else frozenset()


def off_the_usual_way(here: Mapping[int, Collective], records: Mapping[int, RankRecord]) -> frozenset[int]:
    """The ranks in another collective than the one that came before, after the same ones as now. Empty if nothing tells which that is.

    Of what all ranks did in this group, the longest part counts that ends now and that was there before, with one of the collectives of now after it:
    that one is usual.
    """
    (group, number), *_ = {(one.group, one.number) for one in here.values()}
    done = {one.number: _kind(one) for record in records.values() for one in record.collectives if one.group == group}
    before = [done[at] for at in sorted(done) if at < number]
    now = {_kind(one) for one in here.values()}
    for length in range(min(len(before) - 1, MOST_BEFORE), 0, -1):
        last = before[-length:]
        came = Counter(
            before[at + length]
            for at in range(len(before) - length)
            if before[at : at + length] == last and before[at + length] in now
        )
        if came:
            break
    else:
        return frozenset()
    (usual, times), *others = came.most_common()
    late = frozenset(rank for rank, one in here.items() if _kind(one) != usual)
    return late if late != here.keys() and (not others or others[0][1] < times) else frozenset()


def _kind(one: Collective) -> tuple[str, str, str]:
    return one.operation, one.inputs, one.dtypes


def _fewest(by_rank: Mapping[int, str], usual: Counter[str]) -> frozenset[int]:
    """The ranks that do what the fewest do; if as many do one as do the other, those that do what is rarer otherwise."""
    counted = Counter(by_rank.values())
    most, *others = sorted(counted, key=lambda what: (counted[what], usual[what]), reverse=True)
    if any((counted[what], usual[what]) == (counted[most], usual[most]) for what in others):
        return frozenset()
    return frozenset(rank for rank, what in by_rank.items() if what != most)


def named(verdict: HangVerdict, cause: Cause, late: frozenset[int]) -> HangVerdict:
    apart = [one for one in verdict.standing if one.rank.number in late]
    waiting = [one for one in verdict.standing if one not in apart]
    if not apart or not waiting:
        return verdict._replace(cause=cause)
    return verdict._replace(cause=cause, late=apart, waiting=waiting, collective=waiting[0].collective)


def ask(ranks: Sequence[Rank], folder: Path | None) -> dict[int, RankRecord]:
    """What the ranks tell that can be asked, all at once."""
    if folder is None:
        return {}
    answers: dict[int, Path] = {}
    for rank in ranks:
        answer = folder / f"{rank.pid}.recorded.json"
        with suppress(OSError, ValueError):
            descriptor, inode = map(int, (folder / f"{rank.pid}.ask").read_text().split())
            pipe = f"/proc/{rank.pid}/fd/{descriptor}"
            found_there = os.stat(pipe)
            if not stat.S_ISFIFO(found_there.st_mode) or found_there.st_ino != inode:
                continue  # the file is that of an earlier process of this number
            answer.unlink(missing_ok=True)
            number = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(number, b"?")
            finally:
                os.close(number)
            answers[rank.number] = answer
    found: dict[int, RankRecord] = {}
    deadline = time.monotonic() + ANSWER_SECONDS
    while answers.keys() - found.keys() and time.monotonic() < deadline:
        time.sleep(0.05)
        for number, path in answers.items():
            if number not in found and path.exists():
                found[number] = read(path)
    return found


def read(path: Path) -> RankRecord:
    """The answer of one rank. What is no answer tells nothing."""
    try:
        if path.stat().st_size > MAX_BYTES:
            return RankRecord({}, [])
        told = json.loads(path.read_text(encoding="utf-8", errors="replace"))
        groups = {str(name): frozenset(map(int, ranks)) for name, ranks in told["groups"].items()}
        collectives = [
            Collective(
                int(row["number"]), str(row["group"]), str(row["operation"])[:80], "scheduled" if row["waits"] else "completed",
                str(row["inputs"])[:200], str(row["dtypes"])[:80], "",
            )
            for row in told["collectives"]
        ]  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return RankRecord({}, [])
    root = told.get("root")
    return RankRecord(groups, collectives, root if type(root) is int else None, _forming(told), _tasks(told))


def _forming(told: Mapping[str, Any]) -> Forming | None:
    with suppress(ValueError, KeyError, TypeError):
        return Forming(frozenset(map(int, told["forms"]["ranks"])), int(told["forms"]["own"]))
    return None


def _tasks(told: Mapping[str, Any]) -> tuple[Stack, ...]:
    with suppress(ValueError, KeyError, TypeError):
        return tuple(
            tuple(StackFrame(str(file), int(line), str(function)) for file, line, function in frames)
            for frames in told["tasks"]
        )
    return ()
