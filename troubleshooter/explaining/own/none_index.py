"""A list, a tuple or a dictionary that the user's own line asks for the item None: positions that belong to no word have none."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import code, marked, parsed
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_UNLESS_NONE = "{} if {} is not None else {}"
_MESSAGE = lazy.compile(r"^(?:list|tuple|string) indices must be integers or slices, not '?NoneType'?$")
_IGNORED = "-100"
"""The label that losses of torch leave out."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names the None; None where the line does not show which name it is."""
    is_key = failure.type == "KeyError" and failure.message == "None"
    if not is_key and _MESSAGE.match(failure.message) is None:
        return None
    frame = trace.frames[-1]
    line = parsed(code(frame))
    asked = _asked(parsed(marked(frame))) or _asked(line)
    if len({ast.unparse(one) for one in asked}) != 1 or line is None:
        return None
    item = asked[0]
    name, holder = ast.unparse(item.slice), ast.unparse(item.value)
    whole = _whole(item, line)
    otherwise = _IGNORED if _is_of_labels(line, whole) else "..."
    text = _UNLESS_NONE.format(ast.unparse(whole), name, otherwise)
    found.condition = say("none-index", lang, k=name, x=holder)
    found.origins = [Origin(name, "data"), *(one for one in found.origins if one.name != name)]
    found.remedies = [Remedy("own-otherwise", (("x", text),), text, "rule")]
    return found


def _asked(tree: ast.Module | None) -> list[ast.Subscript]:
    """The parts that ask for an item by a name, not by a written key."""
    return [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Name, ast.Attribute))
    ]


def _whole(item: ast.Subscript, line: ast.Module) -> ast.expr:
    """The look-up with those that it stands in: `TAGS[tags[word]]`."""
    text, found = ast.unparse(item), item
    for node in ast.walk(line):  # the outermost first
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            inner: ast.expr = node
            while isinstance(inner, ast.Subscript) and ast.unparse(inner) != text:
                inner = inner.slice
            if isinstance(inner, ast.Subscript):
                return node
    return found


def _is_of_labels(line: ast.Module, whole: ast.expr) -> bool:
    """Whether the line makes labels of a loss: what it fills, or the entry that it sets, is called so."""
    for node in ast.walk(line):
        filled: list[ast.expr] = []
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("append", "extend")
        ):
            filled = [node.func.value]
        elif isinstance(node, ast.Assign):
            filled = node.targets
        elif isinstance(node, ast.Dict):
            filled = [key for key in node.keys if key is not None]
        if any("label" in ast.unparse(one).lower() and one is not whole for one in filled):
            return True
    return False
