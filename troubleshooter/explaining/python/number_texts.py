"""A text that is no number, by the line that wanted one: a part of a name that was split, or a suffix behind it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.python.calling import LineAnswer, text


def no_number(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A text that ``int`` or ``float`` cannot read."""
    for node in nodes:
        if isinstance(node, ast.Call) and text(node.func) in ("float", "int") and node.args:
            value = text(node.args[0])
            fixes = [
                *_without_suffix(m[1], node.args[0]),
                *_last_part(node.args[0]),
                ("own-look", f"print(repr({value}))"),
            ]
            if text(node.func) == "int":
                several = any(isinstance(one, (ast.Lambda, ast.comprehension)) for one in nodes)
                leave = ("day-no-digits" if several else "day-digits", f"if {value}.isdigit():")
                fixes.insert(0 if several else len(fixes), leave)  # among several, one has no number
            return LineAnswer("own-number", {"x": value, "v": m[1]}, (value,), tuple(fixes))
    return None


_SUFFIX = lazy.compile(r"^['\"]-?\d[\d.e+-]*?(?P<s>\.[A-Za-z]\w{1,11})['\"]$")


def _without_suffix(said: str, node: ast.expr) -> Iterator[tuple[str, str]]:
    """A number with the suffix of a file's name behind it."""
    found = _SUFFIX.match(said)
    if found is None:
        return
    whole = text(node)
    names = [one for one in ast.walk(node) if isinstance(one, ast.Attribute) and one.attr == "name"]
    yield (
        "day-suffix",
        whole.replace(f"{text(names[0])}", f"{text(names[0].value)}.stem")
        if len(names) == 1
        else f"{whole}.removesuffix({found['s']!r})",
    )


def _last_part(node: ast.expr) -> Iterator[tuple[str, str]]:
    """The last part of a text that is split: the mark may stand in it more often than was thought."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Call) or len(node.value.args) != 1:
        return
    call, number = node.value, node.slice
    is_split = isinstance(call.func, ast.Attribute) and call.func.attr == "split" and not call.keywords
    if is_split and isinstance(number, ast.Constant) and isinstance(number.value, int) and number.value > 0:
        assert isinstance(call.func, ast.Attribute)
        yield "day-last-part", f"{text(call.func.value)}.rsplit({text(call.args[0])}, 1)[-1]"
