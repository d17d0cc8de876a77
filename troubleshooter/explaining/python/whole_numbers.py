"""A whole number that does not fit the type of an array."""

from __future__ import annotations

import ast
import re

from troubleshooter.explaining.python.calling import LineAnswer, text

_BITS = (8, 16, 32, 64)


def out_of_bounds(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """The part of the line that names the type, and the smallest type of its kind that holds the number."""
    number, signed, bits = int(m[1]), m[2] == "int", int(m[3])
    low, high = _bounds(signed, bits)
    named = [
        node
        for node in nodes
        if isinstance(node, ast.expr) and text(node).rpartition(".")[2].strip("'\"") == f"{m[2]}{m[3]}"
    ]
    wider = [
        f"{kind}{size}"
        for kind in (m[2], "int")
        for size in _BITS
        if size > bits - (kind != m[2]) and _bounds(kind == "int", size)[0] <= number <= _bounds(kind == "int", size)[1]
    ]
    fixes: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ("dtype",)
    if named and wider:
        shown = text(named[0])
        better = shown.replace(f"{m[2]}{m[3]}", wider[0])
        keyword = next(
            (one.arg for node in nodes for one in getattr(node, "keywords", []) if one.value is named[0]), None
        )
        names = (keyword or shown, shown) if keyword else (shown,)
        fixes = (("num-wider", f"{keyword}={better}" if keyword else better),)
    values: dict[str, object] = {"t": f"{m[2]}{m[3]}", "low": low, "high": high, "v": number}
    return LineAnswer("num-range", values, names, fixes)


def _bounds(signed: bool, bits: int) -> tuple[int, int]:
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
