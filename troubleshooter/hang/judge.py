"""Compare where the ranks are: which did not arrive, where the others wait, where they diverged, and the kind of cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from troubleshooter.hang.collectives import MEETING, OUTSIDE, STORE, forms_first_group, reaches_for_store
from troubleshooter.hang.doing import Cause, cause_of, waits_outside
from troubleshooter.hang.endless import PackageLoop
from troubleshooter.hang.flight import Apart
from troubleshooter.hang.owned import is_own
from troubleshooter.hang.parting import came_round, goes_first, is_ahead, left_a_loop, parting, took_a_branch
from troubleshooter.hang.peers import awaited_by_several
from troubleshooter.hang.ranks import OtherProcess, Rank, launcher_meets, others_of
from troubleshooter.hang.stacks import Stack, StackFrame
from troubleshooter.hang.standing import Standing, standing_of
from troubleshooter.hang.threads import lacking_a_thread
from troubleshooter.supervise.state import ProcessState

_LEAVING = frozenset(("destroy_process_group", "_shutdown", "_exit_function", "_run_exitfuncs", "shutdown"))
_EXECUTORS = "concurrent/futures/"
"""A pool of threads or processes is shut down where a ``with`` around it ends, in the midst of the run."""
_ONE_SIDED = frozenset(
    ("send", "recv", "isend", "irecv", "send_object_list", "recv_object_list", "batch_isend_irecv", "rpc_sync", STORE)
)
"""What a rank waits in that concerns one other rank: beside a collective of all, it is the way apart."""


class HangVerdict(NamedTuple):
    """``late``: the ranks that did not arrive. ``missing``: numbers of ranks that have no process any more.

    ``collective``: what the others wait in, and ``waiting`` who they are. ``loops``: the loops of packages that late ranks never leave.
    ``processes``: what processes the run has, if none of them is a rank. ``apart``: the recorded collective in which the ranks differ.
    ``guessed``: whether as many ranks wait at one place as at another, and nothing but the order of the lines tells which of them went apart.
    """

    cause: Cause
    late: list[Standing]
    waiting: list[Standing]
    missing: list[int]
    collective: str
    standing: list[Standing]
    loops: tuple[PackageLoop, ...] = ()
    processes: tuple[OtherProcess, ...] = ()
    apart: Apart | None = None
    guessed: bool = False


def judge(
    ranks: Sequence[Rank], world: int | None = None, ended_well: bool | None = None, failed: Collection[int] = ()
) -> HangVerdict:
    """Compare the ranks. ``world``: how many ranks there should be. ``ended_well``: whether the ended ones succeeded, if known. ``failed``: the numbers
    of ranks that are known to have failed, where no ``world`` tells of them.

    If nobody is in a collective, ranks that ended well are done and wait for nothing; for one that failed the others wait, wherever they are.
    If nothing tells that an absent rank failed, and the others wait for it to join, it may never have been started.
    """
    standing = [standing_of(rank) for rank in ranks]
    waiting = [one for one in standing if one.collective]
    late = [one for one in standing if not one.collective]
    missing = (
        sorted(failed)
        if not world or not all(rank.numbered for rank in ranks)
        else sorted(set(range(world)) - {r.number for r in ranks})
    )
    if missing or (world and len(ranks) < world):
        if late and not waiting and ended_well:
            return HangVerdict(_most_common_cause(late), late, [], [], "", standing)
        if missing and not waiting and ended_well is False:
            late = []
        if ended_well and waiting and not late and all(forms_first_group(one.rank.stack) for one in waiting):
            return HangVerdict("meeting", late, waiting, missing, _common(waiting), standing)
        return HangVerdict("ended", late, waiting, missing, _common(waiting), standing)
    outside = [] if waiting else [one for one in late if waits_outside(one)]
    if outside and len(outside) < len(late):
        apart = [one for one in late if one not in outside]
        return HangVerdict(_most_common_cause(apart), apart, outside, [], OUTSIDE, standing)
    if late and not (waiting and all(_leaves(one) for one in late)):
        cause: Cause = _most_common_cause(late)
        not_there = cause in ("sleeping", "unknown") or all(one.rank.program for one in late)
        if not_there and waiting and all(one.collective == MEETING for one in waiting):
            cause = "meeting"
        return HangVerdict(cause, late, waiting, [], _common(waiting), standing)
    if late:
        return HangVerdict("data-ended", late, waiting, [], _common(waiting), standing)
    return _all_wait(standing)


def without_ranks(processes: Iterable[ProcessState], stacks: Mapping[int, list[Stack]]) -> HangVerdict:
    """The verdict on a run that has no rank: its launcher waits for those of other nodes, or it is not known why."""
    found = [*processes]
    meets = launcher_meets(found, stacks)
    return HangVerdict(
        "meeting" if meets else "unknown", [], [], [], MEETING if meets else "", [], processes=others_of(found, stacks)
    )


def _all_wait(standing: list[Standing]) -> HangVerdict:
    """The verdict if all ranks wait, perhaps at different places: the smaller group then took another branch."""
    if not standing:
        return HangVerdict("unknown", [], [], [], "", [])
    if all(one.collective == MEETING for one in standing):
        outside = [
            one for one in standing if one.rank.numbered and one.rank.number and reaches_for_store(one.rank.stack)
        ]
        late = outside if 2 * len(outside) < len(standing) else []  # rank 0 opens the store, and waits in it
        return HangVerdict("meeting", late, [one for one in standing if one not in late], [], MEETING, standing)
    first, *others = _groups(standing)
    if not others and (threads := lacking_a_thread(standing)):
        late, waiting = threads
        return HangVerdict("branch", late, waiting, [], _common(waiting), standing)
    if not others:
        cause: Cause = "meeting" if first[0].collective == STORE else "shapes" if len(standing) > 1 else "network"
        return HangVerdict(cause, [], standing, [], first[0].collective, standing)
    awaited = awaited_by_several(standing)
    if awaited is not None:
        waiting = [one for one in standing if one is not awaited]
        return HangVerdict("branch", [awaited], waiting, [], _common(waiting), standing)
    guessed = False
    for group in others:
        if len(group) == len(first):  # as many here as there
            sign = _sign(first[0], group[0])
            guessed = guessed or sign is None
            if _is_further(first[0], group[0]) if sign is None else sign:
                first = group
    apart = [one for one in standing if one not in first]
    left = all(left_a_loop(one.rank.stack, first[0].rank.stack) for one in apart) or all(
        left_a_loop(first[0].rank.stack, one.rank.stack) for one in apart
    )
    return HangVerdict(
        "data-ended" if left else "branch", apart, first, [], first[0].collective, standing, guessed=guessed
    )


def _groups(standing: Sequence[Standing]) -> list[list[Standing]]:
    """The ranks by where they wait, the most first. At the same line they may wait for different calls of the function that it is in."""
    groups: dict[tuple[object, ...], list[Standing]] = {}
    for one in standing:
        groups.setdefault((one.collective, *_place(one.own)), []).append(one)
    if len(groups) == 1:
        for one in standing:
            apart = parting(one.rank.stack, standing[0].rank.stack)
            if apart is not None and apart[0].function != "<module>" and is_own(apart[0]):
                groups.setdefault((apart[0],), []).append(one)
        (whole, *parts) = groups.values()
        groups[next(iter(groups))] = [one for one in whole if not any(one in part for part in parts)]
    return sorted(groups.values(), key=len, reverse=True)


def _sign(one: Standing, other: Standing) -> bool | None:
    """Whether ``one`` rather than ``other`` went a way of its own: it waits for a single rank, does not end what it does first, left a loop
    early, is in a branch that the other one passed by, or left something out and is at the next turn. None if nothing tells."""
    if (one.collective in _ONE_SIDED) != (other.collective in _ONE_SIDED):
        return one.collective in _ONE_SIDED
    mine, theirs = one.rank.stack, other.rank.stack
    for sign in (goes_first, left_a_loop, took_a_branch, came_round):
        if sign(mine, theirs) != sign(theirs, mine):
            return sign(mine, theirs)
    return None


def _is_further(one: Standing, other: Standing) -> bool:
    ahead = is_ahead(one.rank.stack, other.rank.stack)
    return _place(one.own) > _place(other.own) if ahead is None else ahead


def _most_common_cause(late: Sequence[Standing]) -> Cause:
    causes = Counter(cause_of(one) for one in late)
    return causes.most_common(1)[0][0]


def _leaves(one: Standing) -> bool:
    """Whether a rank is ending: it has left the training loop, or never reached it."""
    return any(
        frame.function in _LEAVING and _EXECUTORS not in frame.file.replace("\\", "/") for frame in one.rank.stack[:6]
    )


def _common(waiting: Sequence[Standing]) -> str:
    return Counter(one.collective for one in waiting).most_common(1)[0][0] if waiting else ""


def _place(frame: StackFrame | None) -> tuple[str, int]:
    return (frame.file, frame.line) if frame is not None else ("", 0)
