"""Whether a line is reached whenever the conditions around it hold, or only if what runs before it comes to its end."""

from __future__ import annotations

import ast

from troubleshooter.explaining.source.sources import holding

_RUNS = (ast.Try, ast.With, ast.AsyncWith, ast.For, ast.AsyncFor, ast.While)
_BLOCKS = ("body", "orelse", "finalbody")


def is_reached(tree: ast.Module, line: int) -> bool:
    """False for a line behind a ``try``, a ``with`` or a loop that may return: ``try: next(x)``, ``except StopIteration: return``."""
    statements = list(holding(tree, line))
    inside = {id(one) for one in statements}
    for parent in statements:
        if isinstance(parent, ast.ClassDef):
            continue
        for name in _BLOCKS:
            block = getattr(parent, name, None) or []
            at = next((n for n, one in enumerate(block) if id(one) in inside), 0)
            if any(isinstance(one, _RUNS) and _may_return(one) for one in block[:at]):
                return False
    return True


def _may_return(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))
