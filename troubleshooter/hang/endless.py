"""An endless loop inside of an installed package: a rank that others wait for never leaves it.

Much that is well looks so for a while, too: an evaluation, a sampling of tokens, a preparation of rows. So a loop is told only if nothing else
explains the silence. It is the outermost loop that this rank alone is in, so no loop around it can have gone on; it is a ``while``, or goes over
what never ends; and all that it calls is Python of the same package, of Python's library or of the run, not the operators of a library that computes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from troubleshooter.hang.source import CodeBlock, blocks_around, source_line
from troubleshooter.hang.stacks import Stack, StackFrame
from troubleshooter.paths import installed_file

_COMPUTES = frozenset(
    (
        "torch", "torchvision", "torchaudio", "triton", "numpy", "scipy", "sklearn", "pandas", "pyarrow", "jax", "jaxlib", "tensorflow", "vllm",
        "sglang", "deepspeed", "numba",
    )
)  # fmt: skip
"""Packages whose loops are the work itself."""
_NEVER_ENDS = re.compile(r"\b(?:count|cycle)\(|\brepeat\([^,()]*\)$")
_GOES_OVER = re.compile(
    r"\b(?:map|filter|starmap|reduce|\w{0,20}apply|imap\w{0,20}|sorted|sum|min|max|any|all|list|tuple|set|dict|frozenset|deque|Counter|extend|update|"
    r"join|array|fromiter|writelines|executemany)\("
)
"""Calls into C that may go over many items: no frame shows how far they are."""
_ONE_BATCH = "torch/utils/data/"
"""The loops of a data loader go over the rows of one batch."""


class PackageLoop(NamedTuple):
    """A loop of an installed package. ``frame``: where the rank was last in the loop's function. ``first_line``: that of the loop.

    ``looks``: how many stacks of the rank were taken, all of them in the loop, within ``seconds``.
    """

    package: str
    frame: StackFrame
    first_line: int
    looks: int
    rank: int = 0
    seconds: float = 0.0


def package_loop(stacks: Sequence[Stack], others: Sequence[Stack]) -> PackageLoop | None:
    """The loop of a package in which all of these stacks of a rank are. ``others``: where the ranks are that wait for it."""
    if not stacks or not others:
        return None
    outermost_first = [tuple(reversed(stack)) for stack in stacks]
    alone = False
    for depth in range(min(map(len, outermost_first))):
        frames = [stack[depth] for stack in outermost_first]
        if len(set(map(_function, frames))) > 1:
            return None
        beside = [] if alone else _at_same_depth(others, outermost_first[0], depth)
        loops = _loops_of(frames, beside)
        if loops:
            return _told(loops[0], stacks, depth)
        if len(set(frames)) > 1:
            return None  # it went on, and in no loop
        alone = alone or frames[0] not in beside
        if alone and _may_go_over_many(frames[0]):
            return None
    return None


def _may_go_over_many(frame: StackFrame) -> bool:
    package = _package(frame)
    return (package in _COMPUTES and package != "torch") or bool(_GOES_OVER.search(source_line(frame)))


def _at_same_depth(others: Sequence[Stack], mine: Stack, depth: int) -> list[StackFrame]:
    """The frames of the others at this depth of the stack, where they are in the same function as this rank, called from the same lines."""
    turned = [tuple(reversed(stack)) for stack in others]
    return [
        stack[depth]
        for stack in turned
        if len(stack) > depth and stack[:depth] == mine[:depth] and _function(stack[depth]) == _function(mine[depth])
    ]


def _function(frame: StackFrame) -> tuple[str, str]:
    return frame.file, frame.function


def _loops_of(frames: Sequence[StackFrame], beside: Sequence[StackFrame]) -> list[CodeBlock]:
    """The loops that hold all of these frames, the outermost first, without those in which the others are, too."""
    shared = {block for frame in beside for block in blocks_around(frame)}
    common = set.intersection(*(set(_repeating(frame)) for frame in dict.fromkeys(frames)))
    mine = [block for block in common - shared if not _asks_for_one(block, frames)]
    return sorted(mine, key=lambda block: (block.first, -block.last))


def _repeating(frame: StackFrame) -> list[CodeBlock]:
    if _ONE_BATCH in frame.file.replace("\\", "/"):
        return []
    return [block for block in blocks_around(frame) if block.kind in ("loop", "comprehension")]


def _asks_for_one(block: CodeBlock, frames: Sequence[StackFrame]) -> bool:
    """Whether a loop of a generator waits for its next item each time. It hands on each of them, so who asked for one has not got it yet."""
    return block.hands_on and all(frame.line == block.first for frame in frames)


def _told(loop: CodeBlock, stacks: Sequence[Stack], depth: int) -> PackageLoop | None:
    """The loop, if it is one of a package that may never end and that calls nothing which computes."""
    last = stacks[-1][len(stacks[-1]) - 1 - depth]
    package = _package(last)
    if not package or package in _COMPUTES or loop.kind != "loop":
        return None
    if not loop.test and not _NEVER_ENDS.search(loop.over) and not _is_called_for_each(loop.over):
        return None
    inside = (frame for stack in stacks for frame in stack[: len(stack) - 1 - depth])
    if any(_package(frame) not in ("", package) for frame in inside):
        return None
    return PackageLoop(package, last, loop.first, len(stacks))


def _package(frame: StackFrame) -> str:
    found = installed_file(frame.file.replace("\\", "/"))
    return found.package if found is not None else ""


def _is_called_for_each(over: str) -> bool:
    """Whether a loop is over ``iter(function, last)``, which calls the function until it returns the last value."""
    return over.startswith("iter(") and over.endswith(")") and ", " in over
