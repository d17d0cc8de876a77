"""The statement of a file that stands at a line, without the statements inside of it."""

from __future__ import annotations

import ast

from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.sources import holding

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def statement_at(context: NameContext) -> ast.stmt | None:
    """The innermost statement that holds the line of a context: of a loop, a branch or a function only its head."""
    found = list(holding(context.source.tree, context.line))
    return head(found[-1]) if found else None


def in_loop(scope: ast.AST, line: int) -> bool:
    """Whether a line of a function or a module stands in one of its loops."""
    return any(
        isinstance(node, (ast.For, ast.While)) and node.lineno <= line <= (node.end_lineno or node.lineno)
        for node in ast.walk(scope)
    )


def head(statement: ast.stmt) -> ast.stmt:
    """A statement without what stands below its first line: ``for a in b: pass``."""
    if not any(getattr(statement, name, None) for name in _BLOCKS):
        return statement
    fields = {name: ([] if name in _BLOCKS else value) for name, value in ast.iter_fields(statement)}
    return ast.copy_location(type(statement)(**fields), statement)
