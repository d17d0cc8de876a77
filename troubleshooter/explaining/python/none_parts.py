"""Which part of the user's own line is the None that a message of Python or of a library speaks of."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from kb import lazy
from troubleshooter.explaining.source.shown import called, gone_through

_ATTRIBUTE = lazy.compile(r"^'NoneType' object has no attribute '(\w{1,80})'")
_GOES_THROUGH = frozenset(
    (
        "list",
        "tuple",
        "set",
        "sorted",
        "sum",
        "max",
        "min",
        "enumerate",
        "zip",
        "map",
        "dict",
        "any",
        "all",
        "iter",
        "join",
    )
)


def parts(message: str, nodes: Sequence[ast.AST]) -> list[ast.expr]:
    """All parts of a line that can be it; empty where the message does not tell what was asked of None."""
    return list({ast.unparse(one): one for one in _parts(message, nodes)}.values())


def _parts(message: str, nodes: Sequence[ast.AST]) -> Iterator[ast.expr]:
    said = _ATTRIBUTE.match(message)
    for node in nodes:
        if said is not None:
            if isinstance(node, ast.Attribute) and node.attr == said[1]:
                yield node.value
        elif "must be a mapping, not NoneType" in message or "object is not a mapping" in message:
            if isinstance(node, ast.keyword) and node.arg is None:
                yield node.value
            elif isinstance(node, ast.Dict):
                yield from (one for key, one in zip(node.keys, node.values, strict=True) if key is None)
        elif "must be an iterable, not NoneType" in message:
            if isinstance(node, ast.Starred):
                yield node.value
        elif "'NoneType' object is not iterable" in message or "non-iterable NoneType" in message:
            yield from _gone_through(node)
        elif "'NoneType' has no len()" in message:
            if isinstance(node, ast.Call) and called(node) == "len":
                yield from node.args[:1]
        elif (
            "'NoneType' object is not subscriptable" in message or "'NoneType' object does not support item" in message
        ):
            if isinstance(node, ast.Subscript):
                yield node.value
        elif "'NoneType' object is not callable" in message:
            if isinstance(node, ast.Call):
                yield node.func
        elif "unsupported operand" in message and "'NoneType'" in message:
            yield from (node.left, node.right) if isinstance(node, ast.BinOp) else ()
            yield from (node.target, node.value) if isinstance(node, ast.AugAssign) else ()


def _gone_through(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, (ast.For, ast.comprehension)):
        yield from gone_through(node.iter)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
        yield node.value
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        yield from node.comparators
    elif isinstance(node, ast.Call) and called(node) in _GOES_THROUGH:
        yield from node.args
    elif isinstance(node, ast.Starred):
        yield node.value
