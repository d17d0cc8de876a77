"""The columns of data and the keys of dictionaries that the user's own files write out."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from troubleshooter.explaining.remedy import literal
from troubleshooter.explaining.source.sources import SourceFile

_MAKE = frozenset(("from_dict", "from_list", "DataFrame"))
_RENAME, _DROP = ("rename_column", "rename_columns"), ("remove_columns", "select_columns")
MAX_DICTS = 200
"""Dictionaries of one file that are looked at."""


def columns(sources: Iterable[SourceFile]) -> list[str]:
    """The columns that the user's files give their data; empty where a file changes them on the way."""
    found: dict[str, None] = {}
    for source in sources:
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.Call):
                continue
            function = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
            if function in (*_RENAME, *_DROP):
                return []
            if function in _MAKE and node.args:
                found |= dict.fromkeys(key for key, _ in written_keys(node.args[0]))
    return list(found)


def written_keys(node: ast.AST) -> Iterator[tuple[str, int]]:
    """The texts that are keys of the dictionaries which an expression or a file writes out, each with its line."""
    dicts = [part for part in ast.walk(node) if isinstance(part, ast.Dict)]
    for part in dicts[:MAX_DICTS]:
        for key in part.keys:
            value = literal(ast.unparse(key)) if isinstance(key, ast.Constant) else None
            if isinstance(value, str):
                yield value, part.lineno if key is None else key.lineno


def bound(name: str, source: SourceFile) -> list[ast.expr]:
    """All that a file gives a name on any level."""
    return [
        node.value
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
    ]
