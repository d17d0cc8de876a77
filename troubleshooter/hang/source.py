"""The source of the frames: a frame's line, and the loops and branches that it is in."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from troubleshooter.hang.stacks import StackFrame

MAX_BYTES = 2 << 20
"""A larger file is not parsed."""


class CodeBlock(NamedTuple):
    """Lines of a file that belong together. ``kind``: ``loop``, ``comprehension``, ``branch`` for one arm of an ``if``, ``tried`` for what a
    ``try`` goes on after, ``caught`` for what it does if that fails, ``entered`` for what a ``with`` holds, or ``function``.

    ``whole``: the first and last line of the statement with all of its arms; of ``caught`` those that were tried. ``test``: the condition of a ``while`` or ``if``.
    ``calls``: what a loop calls, or an arm outside of the ``if`` inside of it, with its arguments. ``over``: what a ``for`` goes over. ``hands_on``: whether a ``for`` yields each item.
    ``gives``: whether a loop yields anything. ``tries``: whether a loop tries one thing until it succeeds. ``skips``: the lines at
    which a loop or a function passes by what follows. ``exits``: the first and last lines of the statements that leave a loop. A ``for`` that only awaits what it goes over is a ``comprehension``: it ends no data.
    """

    kind: str
    first: int
    last: int
    whole: tuple[int, int]
    test: str
    calls: tuple[str, ...] = ()
    over: str = ""
    hands_on: bool = False
    gives: bool = False
    exits: tuple[tuple[int, int], ...] = ()
    tries: bool = False
    skips: tuple[int, ...] = ()

    def holds(self, frame: StackFrame) -> bool:
        return self.first <= frame.line <= self.last


def source_line(frame: StackFrame | None) -> str:
    """The line of code of a frame; "" if its file cannot be read."""
    if frame is None or frame.line < 1:
        return ""
    try:
        with open(frame.file, encoding="utf-8", errors="replace") as file:
            for number, text in enumerate(file, 1):
                if number == frame.line:
                    return text.strip()[:200]
                if number > 100_000:
                    break
    except (OSError, ValueError):
        pass
    return ""


def blocks_around(frame: StackFrame) -> list[CodeBlock]:
    """The loops and branches that a frame's line is in; none if its file cannot be read or is no Python."""
    return [block for block in _blocks(frame.file) if block.holds(frame)]


def blocks_of(frame: StackFrame) -> tuple[CodeBlock, ...]:
    """The loops and branches of a frame's whole file."""
    return _blocks(frame.file)


def calls_at(frame: StackFrame) -> list[ast.Call]:
    """The calls that a frame's line is in; none if its file cannot be read or is no Python."""
    return [
        node
        for node in ast.walk(_parsed(frame.file))
        if isinstance(node, ast.Call) and node.lineno <= frame.line <= (node.end_lineno or node.lineno)
    ]


def calls_pattern(frame: StackFrame) -> bool:
    """Whether a frame's line calls a regular expression that its file has compiled: ``ANSWER = re.compile(…)`` and ``ANSWER.match(text)``."""
    names = _patterns(frame.file)
    return any(isinstance(call.func, ast.Attribute) and last_name(call.func.value) in names for call in calls_at(frame))


@lru_cache(maxsize=32)
def _patterns(path: str) -> frozenset[str]:
    """The names to which a file assigns a compiled regular expression."""
    return frozenset(
        last_name(target)
        for node in ast.walk(_parsed(path))
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func) in ("re.compile", "regex.compile", "re2.compile")
        for target in node.targets
    ) - {""}


def last_name(expression: ast.expr) -> str:
    """The last part of a name: ``c`` of ``a.b.c``; "" for another expression."""
    return expression.id if isinstance(expression, ast.Name) else getattr(expression, "attr", "")


@lru_cache(maxsize=32)
def _blocks(path: str) -> tuple[CodeBlock, ...]:
    return tuple(block for node in ast.walk(_parsed(path)) for block in _blocks_of(node))


def _parsed(path: str) -> ast.Module:
    """The code of a file; without a statement if it cannot be read or is no Python."""
    try:
        if os.path.getsize(path) <= MAX_BYTES:
            with open(path, encoding="utf-8", errors="replace") as file:
                return ast.parse(file.read())
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        pass
    return ast.Module([], [])


def _blocks_of(node: ast.AST) -> Iterator[CodeBlock]:
    if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
        test = ast.unparse(node.test) if isinstance(node, ast.While) else ""
        lines = node.lineno, node.end_lineno or node.lineno
        over = "" if isinstance(node, ast.While) else ast.unparse(node.iter)[:200]
        hands_on = bool(over) and any(map(_yields, node.body))
        kind = "comprehension" if _only_awaits(node) else "loop"
        gives = any(isinstance(below, (ast.Yield, ast.YieldFrom)) for below in ast.walk(node))
        exits = tuple(
            (below.lineno, below.end_lineno or below.lineno)
            for below in ast.walk(node)
            if isinstance(below, (ast.Return, ast.Raise, ast.Break))
        )
        yield CodeBlock(
            kind, node.lineno, _end(node.body), lines, test, tuple(_calls(node)), over, hands_on, gives, exits,
            any(map(_is_left_by_success, node.body)), _skips(node),
        )  # fmt: skip
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        lines = node.lineno, node.end_lineno or node.lineno
        yield CodeBlock("comprehension", *lines, lines, "")
    elif isinstance(node, ast.If):
        test, whole = ast.unparse(node.test), (node.lineno, node.end_lineno or node.lineno)
        for arm in (node.body, node.orelse):
            if arm:
                calls = tuple(call for one in arm if not isinstance(one, ast.If) for call in _calls(one))
                yield CodeBlock("branch", arm[0].lineno, _end(arm), whole, test, calls)
    elif isinstance(node, (ast.With, ast.AsyncWith, ast.FunctionDef, ast.AsyncFunctionDef)):
        kind = "entered" if isinstance(node, (ast.With, ast.AsyncWith)) else "function"
        whole = node.lineno, node.end_lineno or node.lineno
        yield CodeBlock(kind, node.body[0].lineno, _end(node.body), whole, "", skips=_skips(node))
    elif isinstance(node, ast.Try) and node.handlers:
        tried = node.body[0].lineno, _end(node.body)
        yield CodeBlock("tried", *tried, (node.lineno, node.end_lineno or node.lineno), "")
        for handler in node.handlers:
            yield CodeBlock("caught", handler.body[0].lineno, _end(handler.body), tried, "")


def _skips(node: ast.AST) -> tuple[int, ...]:
    passes_by = (ast.Return, ast.Raise, ast.Break, ast.Continue)
    return tuple(below.lineno for below in ast.walk(node) if isinstance(below, passes_by))


def _calls(node: ast.AST) -> Iterator[str]:
    for below in ast.walk(node):
        if isinstance(below, ast.Call):
            yield ast.unparse(below)[:200]


def _only_awaits(node: ast.For | ast.AsyncFor | ast.While) -> bool:
    """Whether a loop does nothing but wait for each of its items: ``for work in works: work.wait()``."""
    if isinstance(node, ast.While) or len(node.body) != 1 or not isinstance(node.target, ast.Name):
        return False
    only = node.body[0]
    return (
        isinstance(only, ast.Expr)
        and isinstance(only.value, ast.Call)
        and isinstance(only.value.func, ast.Attribute)
        and only.value.func.attr == "wait"
        and isinstance(only.value.func.value, ast.Name)
        and only.value.func.value.id == node.target.id
    )


def _is_left_by_success(statement: ast.stmt) -> bool:
    """Whether a statement of a loop's body is a ``try`` that leaves the loop if nothing fails, and goes on if something does."""
    if not isinstance(statement, ast.Try) or not statement.handlers:
        return False
    succeeds = (statement.orelse or statement.body)[-1]
    fails = [handler.body[-1] for handler in statement.handlers]
    return isinstance(succeeds, (ast.Return, ast.Break)) and not all(
        isinstance(last, (ast.Return, ast.Break, ast.Raise)) for last in fails
    )


def _yields(statement: ast.stmt) -> bool:
    """Whether a statement of a loop's body is a ``yield``, under no condition."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Yield)


def _end(body: list[ast.stmt]) -> int:
    return body[-1].end_lineno or body[-1].lineno
