"""Results that are kept as long as the part of a source that they were read from."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

_Node = TypeVar("_Node", bound=ast.AST)
_Result = TypeVar("_Result")


def kept_with_node(read: Callable[[_Node], _Result]) -> Callable[[_Node], _Result]:
    """Call the function once for each node. A long function is asked hundreds of times while one line is explained.

    A result goes when its node does, with the explanation: nothing stays in a process that explains many logs.
    """
    known: WeakKeyDictionary[_Node, _Result] = WeakKeyDictionary()

    @wraps(read)
    def of(node: _Node) -> _Result:
        if node not in known:
            known[node] = read(node)
        return known[node]

    return of
