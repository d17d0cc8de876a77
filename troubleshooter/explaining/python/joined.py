"""What to do about an operator between two types that do not know it: two things to be joined, or a text in place of a number.

A text is turned into a number only if it may be one, and only beside a number.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from troubleshooter.explaining.python.calling import text
from troubleshooter.explaining.remedy import literal

_PATHS = frozenset(("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath"))
_PLAIN = frozenset(("int", "float", "bool", "complex", "float16", "float32", "float64", "int32", "int64"))
_NUMBERS = _PLAIN | {"Tensor", "Parameter", "ndarray", "Decimal", "Fraction"}
_ENDS = (".", "_", "-")
"""What the end of a name begins with, and the name of a file in a folder does not."""


def fixes(sign: str, kinds: tuple[str, str], sides: tuple[ast.expr, ast.expr]) -> Iterator[tuple[str, str]]:
    """Phrases and code, one after the other; none where neither side can sensibly be turned into the other's type."""
    left, right = (text(side) for side in sides)
    if sign == "+" and set(kinds) <= _PATHS:
        yield "own-join-path", f"{left} / {right}"
    elif sign == "/" and set(kinds) == {"str"}:
        yield "own-join-path", f"Path({left}) / {right}"
    for kind, other, side in zip(kinds, kinds[::-1], sides, strict=True):
        if kind in ("Tensor", "ndarray") and other == "list" and sign == "+":
            yield "own-convert", f"{text(side)}.tolist()"
        if kind == "NoneType":
            yield "own-guard", f"if {text(side)} is not None:"
        elif kind == "str" and other in _PATHS and sign == "+":
            yield from _of_path(sides, is_first=kinds[0] != "str")
        elif kind == "str" and (other in _NUMBERS or (other == "str" and sign == "-")):
            if _may_be_number(side):
                yield "own-convert", f"float({text(side)})"
            elif sign == "+" and other in _PLAIN:
                yield "own-convert", f"str({left}) + {right}" if side is sides[1] else f"{left} + str({right})"


def _of_path(sides: tuple[ast.expr, ast.expr], *, is_first: bool) -> Iterator[tuple[str, str]]:
    path, word = sides if is_first else sides[::-1]
    as_text = f"str({text(path)}) + {text(word)}" if is_first else f"{text(word)} + str({text(path)})"
    if not is_first:
        yield "own-join-path", f"Path({text(word)}) / {text(path)}"
        return
    begin = _beginning(word)
    if begin is not None and begin.startswith("/"):
        yield (
            "own-join-path",
            f"{text(path)} / {text(_without_slash(word))}",
        )  # an absolute path would take the other one's place
    elif begin is not None and begin.startswith(_ENDS):
        yield "own-convert", as_text
    else:
        yield "own-join-path", f"{text(path)} / {text(word)}"
        yield "own-convert", as_text


def _beginning(node: ast.expr) -> str | None:
    """What a written text begins with; None where it is not written, or begins with a value."""
    if isinstance(node, ast.JoinedStr) and node.values:
        node = node.values[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _without_slash(node: ast.expr) -> ast.expr:
    """The same text without the slashes at its beginning."""
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        return ast.JoinedStr([ast.Constant(str(node.values[0].value).lstrip("/")), *node.values[1:]])
    return ast.Constant(str(node.value).lstrip("/")) if isinstance(node, ast.Constant) else node


def _may_be_number(node: ast.expr) -> bool:
    """Whether a text may be that of a number: a written one shows it."""
    if isinstance(node, ast.JoinedStr):
        return False
    if isinstance(node, ast.Constant):
        value = literal(str(node.value).strip())
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return True


def wrapped(kind: str, other: str, node: ast.expr) -> tuple[str, str] | None:
    """How something that is no list or tuple is joined to one: ``list("abc")`` would be its letters."""
    if other not in _PLAIN | {"str", "NoneType"} or kind not in ("list", "tuple"):
        return None
    return ("do-listed", f"[{text(node)}]") if kind == "list" else ("own-tuple", f"({text(node)},)")
