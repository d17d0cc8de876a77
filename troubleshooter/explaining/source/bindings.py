"""The statement of the user's own file that gave a name its value: an assignment or a loop."""

from __future__ import annotations

import ast
from typing import NamedTuple

from troubleshooter.explaining.source.names import NameContext, binds, given_values
from troubleshooter.explaining.source.sources import Function

Binding = ast.Assign | ast.For | ast.comprehension


class GivenName(NamedTuple):
    """The statement, what it gives the name a value of, and where it stands. ``scope``: the function, or the file."""

    statement: Binding
    target: ast.expr
    value: ast.expr
    scope: Function | ast.Module


def binding_of(name: str, context: NameContext) -> GivenName | None:
    """The last one above the line of a context; None where another kind of statement gave the value."""
    function = context.function
    scope = function if function is not None and binds(function, name) else context.source.tree
    given = given_values(name, scope, context.line)
    for node in ast.walk(scope) if given else ():
        if isinstance(node, ast.Assign) and node.value is given[0] and len(node.targets) == 1:
            return GivenName(node, node.targets[0], node.value, scope)
        if isinstance(node, (ast.For, ast.comprehension)) and node.iter is given[0]:
            return GivenName(node, node.target, node.iter, scope)
    return None
