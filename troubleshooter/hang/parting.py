"""Where two ranks went different ways: the outermost frames that differ, and the loops and branches around them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from troubleshooter.hang.collectives import BACKWARD, collective_of
from troubleshooter.hang.owned import is_own
from troubleshooter.hang.source import CodeBlock, blocks_around, blocks_of
from troubleshooter.hang.stacks import Stack, StackFrame
from troubleshooter.paths import installed_file

_OF_RANKS = re.compile(r"rank|is_main|main_process|is_master|primary|is_first|worker_id|zero", re.IGNORECASE)
_NO_DATA = re.compile(
    r"func|callback|metrics\b|hooks\b|handlers\b|\bmodules\(|layers\b|parameters\(|param_groups|criteri|scorers\b|judges\b|evaluators\b|loggers\b|trackers\b|"
    r"plugins\b|retry|retries|attempt",
    re.IGNORECASE,
)
"""What a program consists of, as a loop over it says, and attempts at one thing. Each rank has the same parts, so no data ends there."""
_ENTERS = frozenset(("__enter__", "__aenter__"))
_COUNTS = re.compile(r"%|epoch|step|iteration|every|interval|period|is_last|final", re.IGNORECASE)
"""The condition of what all ranks do at the same turn."""
_BUT_THE_FIRST = re.compile(r"\bnot\b|!=|> ?0|>= ?1")
"""The condition of those that wait until the first rank has done something."""


def parting(one: Stack, other: Stack) -> tuple[StackFrame, StackFrame] | None:
    """The outermost frames that differ, if they are in the same function."""
    for mine, theirs in zip(reversed(one), reversed(other), strict=False):
        if mine != theirs:
            return (mine, theirs) if (mine.file, mine.function) == (theirs.file, theirs.function) else None
    return None


def left_a_loop(one: Stack, other: Stack) -> bool:
    """Whether ``one`` has left a loop in which ``other`` still is, and not for what certain ranks do there, nor by an error that it has caught."""
    apart = parting(one, other)
    if apart is None or _is_for_some_ranks(apart[1]) or _caught_an_error(*apart):
        return False
    mine, theirs = apart
    around = blocks_around(theirs)
    if came_round(one, other) and any(_is_over_data(block) and not block.holds(mine) for block in around):
        return True
    if any(_is_over_data(block) and mine.line > block.last for block in around):
        return not _others_went_past(mine, theirs)
    if mine.line <= theirs.line or any(block.kind == "branch" and not _within(mine, block.whole) for block in around):
        return False
    # It may have returned from a function of the run's own code that loops.
    inside = [frame for frame in other[: other.index(theirs)] if installed_file(frame.file.replace("\\", "/")) is None]
    return any(_is_over_data(block) for frame in inside for block in blocks_around(frame)) and not any(
        map(_is_for_some_ranks, inside)
    )


def _others_went_past(mine: StackFrame, theirs: StackFrame) -> bool:
    """Whether one rank is in a branch behind the other one's loop, inside of a loop around both, and its condition may hold on this rank alone: the
    other one may have gone past it, and be at the next turn. What counts steps or epochs holds on all ranks alike."""
    around = blocks_around(mine)
    outer = [block for block in around if block.kind == "loop" and block.holds(theirs)]
    return bool(outer) and any(
        block.kind == "branch" and not _within(theirs, block.whole) and block.whole[0] > max(one.first for one in outer)
        and not _COUNTS.search(block.test)
        for block in around
    )  # fmt: skip


def _caught_an_error(mine: StackFrame, theirs: StackFrame) -> bool:
    """Whether one rank is in what handles an error of what another one still does."""
    return any(block.kind == "caught" and _within(theirs, block.whole) for block in blocks_around(mine))


def _is_over_data(block: CodeBlock) -> bool:
    """Whether a block is a loop that a rank leaves where its data ends, rather than where it has succeeded or has gone through the parts of the
    program."""
    return block.kind == "loop" and not block.tries and not _NO_DATA.search(block.over)


def goes_first(one: Stack, other: Stack) -> bool:
    """Whether ``one`` is in what it does before the others, and ``other`` waits until it has done so: in the body of a ``with`` that ``other`` is
    entering, or between the wait of the others and its own one: ``if rank != 0: barrier()``, and later ``if rank == 0: barrier()``."""
    apart = parting(one, other)
    if apart is None:
        return False
    mine, theirs = apart
    if any(frame.function in _ENTERS for frame in other[: other.index(theirs)]):
        around = blocks_around(mine)
        return any(block.kind == "entered" and block.whole[0] <= theirs.line < block.first for block in around)
    waits = [block for block in blocks_around(theirs) if _is_of_ranks(block) and mine.line > block.whole[1]]
    ends = [block for block in blocks_of(mine) if _is_of_ranks(block) and mine.line < block.whole[0]]
    return any(
        first.test != last.test and {*first.calls} & {*last.calls} and _in_same_function(first, last, blocks_of(mine))
        for first in waits
        for last in ends
    )


def _in_same_function(one: CodeBlock, other: CodeBlock, blocks: Sequence[CodeBlock]) -> bool:
    functions = [block for block in blocks if block.kind == "function"]
    return all(
        (block.first <= one.first <= block.last) == (block.first <= other.first <= block.last) for block in functions
    )


def _is_of_ranks(block: CodeBlock) -> bool:
    return block.kind == "branch" and bool(_OF_RANKS.search(block.test))


def took_a_branch(one: Stack, other: Stack) -> bool:
    """Whether ``one`` is in a branch that ``other`` went past, or in a branch for certain ranks of a function that ``other`` is not in, or
    handles an error."""
    apart = parting(one, other)
    if apart is None:
        return False
    mine, theirs = apart
    if any(block.kind == "branch" and theirs.line > block.whole[1] for block in blocks_around(mine)):
        return True
    if _caught_an_error(mine, theirs):
        return True
    inside = one[: one.index(mine)]
    entered = next((at for at, frame in enumerate(inside) if frame.function in _ENTERS), 0)
    # What is entered may let a rank wait until the first one was there.
    return any(
        _is_of_ranks(block) and not (at < entered and _BUT_THE_FIRST.search(block.test))
        for at, frame in enumerate(inside)
        for block in blocks_around(frame)
    )


def _is_for_some_ranks(frame: StackFrame) -> bool:
    return any(map(_is_of_ranks, blocks_around(frame)))


def is_ahead(one: Stack, other: Stack) -> bool | None:
    """Whether ``one`` came further than ``other``; None if their stacks do not tell."""
    apart = parting(one, other)
    return None if apart is None else apart[0].line > apart[1].line


def came_round(one: Stack, other: Stack) -> bool:
    """Whether ``one`` has begun a loop's next turn, while ``other`` waits in this one: in the backward pass, or where nobody goes for a reason of its own.
    It must be at an earlier line that nobody passes by: so the other one came to that line in its turn, and both went through the collective there."""
    apart = parting(one, other)
    if apart is None or apart[0].line >= apart[1].line:
        return False
    mine, theirs = apart
    at = one.index(mine)
    if _has_conditions(one, mine, theirs):
        return False
    if collective_of(other) != BACKWARD and (_has_conditions(other, theirs, mine) or _may_be_passed(one, mine, theirs)):
        return False
    if any(_is_for_some_ranks(frame) for frame in other[: other.index(theirs) + 1]):
        return False
    if any(block.kind == "loop" and block.holds(mine) and block.holds(theirs) for block in blocks_around(mine)):
        return True
    return any(block.kind == "loop" for frame in one[at + 1 :] for block in blocks_around(frame))


def _has_conditions(stack: Stack, mine: StackFrame, theirs: StackFrame) -> bool:
    """Whether a rank came to where it is since ``mine`` by a condition, or as long as nothing failed."""
    inside = [frame for frame in stack[: stack.index(mine)] if is_own(frame)]
    return any(block.kind in ("branch", "tried") for frame in inside for block in blocks_around(frame)) or any(
        block.kind in ("branch", "tried") and not _within(theirs, block.whole) for block in blocks_around(mine)
    )


def _may_be_passed(stack: Stack, mine: StackFrame, theirs: StackFrame) -> bool:
    """Whether anything before a rank's place lets others pass it by: ``if not rows: return``, or a ``continue`` of the loop around both lines."""
    shared = [block for block in blocks_around(mine) if block.kind == "loop" and block.holds(theirs)]
    start = max((block.first for block in shared), default=0)
    inside = [(frame, 0) for frame in stack[: stack.index(mine)] if is_own(frame)]
    return any(
        max(block.first, first) <= line < frame.line
        for frame, first in [*inside, (mine, start)]
        for block in blocks_around(frame)
        if block.kind in ("loop", "function")
        for line in block.skips
    )


def has_gone_on(before: Stack, now: Stack) -> bool:
    """Whether a rank has come to a later line of a function since, and no loop of it can lead back to the earlier line."""
    apart = parting(before, now)
    if apart is None or apart[0].line >= apart[1].line:
        return False
    return not any(block.kind == "loop" and block.holds(apart[0]) for block in blocks_around(apart[1]))


def _within(frame: StackFrame, lines: tuple[int, int]) -> bool:
    return lines[0] <= frame.line <= lines[1]
