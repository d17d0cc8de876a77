"""A KeyError, by the line that raised it: which dictionary was asked, whose key it is, and what a row may lack."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from troubleshooter.explaining.python import braces
from troubleshooter.explaining.python.calling import LineAnswer, each, text


def absent(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A key that a dictionary of the line does not have."""
    items = [node for node in nodes if isinstance(node, ast.Subscript)]
    named = [
        node for node in items if not isinstance(node.slice, ast.Constant)
    ]  # a written key would be in the message
    asked = [(text(node.value), text(node.slice)) for node in items]
    for node in nodes:  # a set's `remove` raises it, too
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("pop", "remove"):
            asked += [(text(node.func.value), text(one)) for one in node.args[:1]]
    asked = [one for one in asked if one[1] == m[0]] or [(text(node.value), "") for node in named] or asked
    holders = list(dict.fromkeys(holder for holder, _ in asked))
    if (template := braces.read_as_field(m[0], nodes)) is not None:
        return template
    if not holders:
        return None
    names = (*holders, m[0].strip("'\""))
    if len(holders) > 1:
        return LineAnswer("own-key-several", {"k": m[0], "x": each(holders)}, names)
    fixes = (*_without_key(m[0], nodes), ("own-look", f"print({holders[0]}.keys())"), *_of_row(m[0], holders[0]))
    return LineAnswer("own-key", {"k": m[0], "x": holders[0]}, names, fixes)


def _without_key(key: str, nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """What ``pop`` gives for a key that is not there."""
    for node in nodes:
        is_pop = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop"
        if isinstance(node, ast.Call) and is_pop and len(node.args) == 1 and text(node.args[0]) == key:
            yield "day-default", f"{text(node.func)}({key}, None)"


def _of_row(key: str, holder: str) -> Iterator[tuple[str, str]]:
    """The value of a row of the data that may lack the key."""
    if holder in _ROWS and key[:1] in "'\"":
        yield "day-some-lack", f"{holder}.get({key}, '')"


_ROWS = frozenset(
    [
        "row",
        "r",
        "example",
        "ex",
        "sample",
        "item",
        "record",
        "rec",
        "entry",
        "datum",
        "line",
        "message",
        "msg",
        "turn",
        "feature",
    ]
)
"""What people call one row of their data. Rows differ, while a configuration has its keys or not."""
