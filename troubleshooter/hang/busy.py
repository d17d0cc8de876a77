"""Which ranks that compute, or that look again and again, count as hung, and after which silence. Much that is well looks so for a while."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from troubleshooter.hang.doing import reads_network
from troubleshooter.hang.owned import is_own
from troubleshooter.hang.ranks import Rank
from troubleshooter.hang.source import CodeBlock, blocks_around, calls_pattern, source_line
from troubleshooter.hang.stacks import Stack, StackFrame
from troubleshooter.paths import installed_file

PATIENCE = 2.0
"""A rank that computes in a loop of the user's own code, while others wait for it, is reported after a silence this many times as long
as usual. If nobody waits for it, nothing tells an endless loop from a long computation, and it is not reported."""
LONGER_PATIENCE = 4.0
"""The same for a rank that computes in Python's own library, called by its own code: a pattern that backtracks without end, a search for
what is not there. Much that is well looks so for a while: tokenizing, reading JSON."""
ALONE_PATIENCE = 8.0
"""The same for a process in a regular expression, if nobody waits for it."""
LOOP_PATIENCE = 6.0
"""The same for a rank in a loop of an installed package that nothing but an end of the loop can leave (`endless`)."""
_PATTERN_CALL = re.compile(
    r"(?i)\bre\.\w|(?:pattern|regexp?|_re|_rx)\w{0,20}\.(?:match|fullmatch|search|sub|subn|split|findall|finditer)\("
)
_PATTERN_FILES = re.compile(r".*/(?:re/__init__|re|regex/_main|regex/regex)\.py$")


def is_long_awaited(before: Rank, now: Rank, patience: float) -> bool:
    """Whether a rank computes in such a way, and others have waited for so long, that it counts as hung."""
    return (patience > PATIENCE and _turns(before, now)) or (patience > LONGER_PATIENCE and _stays(before, now))


def _turns(before: Rank, now: Rank) -> bool:
    """Whether a rank runs a loop of its own code that calls nothing. An evaluation would mostly be seen inside of torch."""
    return (
        all(rank.stack and is_own(rank.stack[0]) for rank in (before, now))
        and before.stack[0].function == now.stack[0].function
    )


def _stays(before: Rank, now: Rank) -> bool:
    """Whether a rank was both times in the same function of its own code, or in what that calls of its own or of Python's library."""
    mine, theirs = ([(frame.file, frame.function) for frame in rank.stack if is_own(frame)] for rank in (now, before))
    if not mine or not theirs or (mine[0] not in theirs and theirs[0] not in mine):
        return False
    inside = itertools.chain(_inside_own(before), _inside_own(now))
    return not any(installed_file(frame.file.replace("\\", "/")) for frame in inside)


def loops_in_own_code(stacks: Sequence[Stack], *, goes_round: bool = True) -> bool:
    """Whether a process was each time in the same ``while`` of the run's own code, which hands on nothing, and in nothing but that code and what
    it calls of Python's own library. ``goes_round``: in a statement that does not leave the loop at least once. One that was only seen in
    ``return read()`` may have entered the loop anew each time."""
    turned = [tuple(reversed(stack)) for stack in stacks]
    for depth in range(min(map(len, turned), default=0)):
        frames = [stack[depth] for stack in turned]
        if len({(frame.file, frame.function) for frame in frames}) > 1:
            return False
        if not is_own(frames[0]):
            continue
        around = set.intersection(*(set(blocks_around(frame)) for frame in frames))
        if any(
            block.kind == "loop" and block.test and not block.gives and not (goes_round and _only_leaves(block, frames))
            for block in around
        ):
            inside = (frame for stack in turned for frame in stack[depth:])
            return not any(installed_file(frame.file.replace("\\", "/")) for frame in inside)
        if len(set(frames)) > 1:
            return False  # it went on
    return False


def _only_leaves(loop: CodeBlock, frames: Sequence[StackFrame]) -> bool:
    """Whether all frames are in statements that leave a loop."""
    return all(any(first <= frame.line <= last for first, last in loop.exits) for frame in frames)


def _inside_own(rank: Rank) -> Stack:
    """The frames inside of the innermost one of the run's own code."""
    return tuple(itertools.takewhile(lambda frame: not is_own(frame), rank.stack))


def looks_again(before: Rank, now: Rank) -> bool:
    """Whether a rank that uses no CPU waits in the same line of its own code, in a library that looks again and again."""
    mine, then = (next((frame for frame in rank.stack if is_own(frame)), None) for rank in (now, before))
    return mine is not None and mine == then and not reads_network(before) and not reads_network(now)


def matches_without_end(before: Rank, now: Rank, patience: float, stands_still: Callable[[int, Stack], bool]) -> bool:
    """Whether a process for which nobody waits stands in one call of a regular expression. ``stands_still`` asks again and again."""
    if patience <= ALONE_PATIENCE or not now.stack or now.stack != before.stack:
        return False
    inner = now.stack[0]
    in_pattern = _PATTERN_FILES.match(inner.file.replace("\\", "/")) or (
        is_own(inner) and (_PATTERN_CALL.search(source_line(inner)) or calls_pattern(inner))
    )
    return bool(in_pattern) and stands_still(now.pid, now.stack)
