"""Slips that one line shows whole: brackets that are missing or too many, an attribute of a dictionary, an item of a generator.

Each function gives phrases and code. The caller has found out which part of the line has the class that the message tells.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from troubleshooter.explaining.python.calling import LineAnswer, text

FUNCTIONS = frozenset(("method", "function", "builtin_function_or_method", "method-wrapper"))
_ONCE = frozenset(("generator", "map", "filter", "zip", "dict_keys", "dict_values", "dict_items", "set", "frozenset", "reversed", "enumerate", "odict_keys", "list_iterator"))  # fmt: skip
"""Classes whose items have no numbers."""
_ITEMS = frozenset(("dict", "list", "tuple", "OrderedDict", "defaultdict", "DataFrame", "Series", "Tensor", "ndarray", "BatchEncoding"))  # fmt: skip
"""Classes whose items are asked for with square brackets."""
_NO_FIELDS = frozenset(
    (
        "to", "cuda", "cpu", "shape", "size", "dim", "dtype", "device", "detach", "backward", "append", "extend", "add", "sort", "train",
        "eval", "parameters", "named_parameters", "state_dict", "generate", "forward", "map", "filter", "select", "shuffle", "lower",
        "strip", "split", "read", "write", "save", "save_pretrained", "to_dict", "to_json", "to_pandas", "iterrows", "columns", "numpy",
        "tolist", "encode", "decode", "mean", "sum", "item", "step", "zero_grad", "apply", "remove_columns", "train_test_split", "column_names",
    )
)  # fmt: skip
"""Names that no dictionary has as keys, or hardly: another object was meant."""
_RENAMED = {"iteritems": "items", "itervalues": "values", "iterkeys": "keys"}
_COUNTERS = frozenset(("i", "j", "n", "idx", "index", "step", "it", "iteration", "batch_idx", "batch_index", "epoch", "num", "k", "count", "global_step"))  # fmt: skip
"""Names that people give to the number of an item."""


def of_attribute(kind: str, asked: ast.Attribute, meant: str | None) -> Iterator[tuple[str, str]]:
    """What to do about an attribute that an object has not. ``meant``: the one that Python offers in its message."""
    holder, name = text(asked.value), asked.attr
    if kind in FUNCTIONS:
        yield "day-call", f"{holder}().{name}"
    elif kind == "coroutine":
        yield "do-await", f"(await {holder}).{name}"
    elif kind == "dict" and name in _RENAMED:
        yield "own-rename", f"{holder}.{_RENAMED[name]}"
    elif kind == "dict" and name not in _NO_FIELDS:
        yield "day-key", f'{holder}["{name}"]'
    elif kind == "bool" and hasattr(str, name):
        yield "day-yaml-word", '"no"'  # of a truth value no text can be made that the code knows
    elif kind in ("int", "float") and hasattr(str, name) and not hasattr(float, name):
        yield "own-convert", f"str({holder})"
    elif kind == "str" and name == "decode":
        yield "day-text", holder
    elif meant and kind not in ("str", "list", "dict", "tuple", "int", "float", "bytes", "set"):
        yield "own-rename", f"{holder}.{meant}"


def of_item(kind: str, asked: ast.Subscript) -> Iterator[tuple[str, str]]:
    """What to do about an item of something that has none by number."""
    holder, item = text(asked.value), text(asked.slice)
    if kind in FUNCTIONS:
        yield "day-call", f"{holder}()[{item}]"
    elif kind in _ONCE:
        yield "day-list", f"list({holder})[{item}]"
    elif kind == "coroutine":
        yield "do-await", f"(await {holder})[{item}]"


def of_loop(kind: str, rows: ast.expr) -> Iterator[tuple[str, str]]:
    """What to do about a loop over something that has no items."""
    if kind in FUNCTIONS:
        yield "day-call", f"{text(rows)}()"
    elif kind == "coroutine":
        yield "do-await", f"await {text(rows)}"
    elif kind == "int":
        yield "day-range", f"range({text(rows)})"


def of_call(kind: str, call: ast.Call) -> Iterator[tuple[str, str]]:
    """What to do about a call of something that is no function."""
    function = text(call.func)
    if not isinstance(call.func, (ast.Name, ast.Attribute)) or call.keywords:
        return
    if isinstance(call.func, ast.Attribute) and not call.args:
        yield "day-no-call", function
    elif kind in _ITEMS and len(call.args) == 1:
        yield "day-brackets", f"{function}[{text(call.args[0])}]"


def of_sides(kinds: tuple[str, str], sides: tuple[ast.expr, ast.expr]) -> Iterator[tuple[str, str]]:
    """What to do about an operator with a function on one of its sides."""
    for kind, side in zip(kinds, sides, strict=True):
        if kind in FUNCTIONS and isinstance(side, (ast.Name, ast.Attribute)):
            yield "day-call", f"{text(side)}()"


def counted(target: ast.Tuple | ast.List, rows: ast.expr) -> Iterator[tuple[str, str]]:
    """``enumerate`` for a loop whose first name is one that people give to a number."""
    first = target.elts[0]
    is_counted = isinstance(rows, ast.Call) and text(rows.func) in ("enumerate", "zip")
    if len(target.elts) == 2 and isinstance(first, ast.Name) and first.id in _COUNTERS and not is_counted:
        yield "day-enumerate", f"enumerate({text(rows)})"


def fixed_item(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """An item of a tuple that was to be replaced."""
    holders = {
        text(target.value)
        for node in nodes
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else [])
        if isinstance(target, ast.Subscript)
    }  # fmt: skip
    if len(holders) != 1:
        return None
    holder = holders.pop()
    fixes = (("day-list", f"{holder} = list({holder})"),) if m[1] == "tuple" else ()
    return LineAnswer("day-fixed", {"x": holder, "t": m[1]}, (holder,), fixes)


def key_kind(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """Something that may change, used as a key or put into a set."""
    asked = [node.slice for node in nodes if isinstance(node, ast.Subscript)]
    asked += [
        node.args[0]
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("add", "get", "setdefault", "pop", "discard")
        and node.args
    ]
    asked = [one for one in asked if not isinstance(one, (ast.Constant, ast.Slice))]
    if len({text(one) for one in asked}) != 1:
        return None
    key = text(asked[0])
    fixes = (("day-tuple", f"tuple({key})"),) if m[1] == "list" else ()
    return LineAnswer("day-key-kind", {"x": key, "t": m[1]}, (key,), fixes)


def file_mode(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A file that was opened for something else."""
    files = {
        text(node.func.value) for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    if len(files) != 1:
        return None
    file = files.pop()
    fix = ("day-open", 'open(..., "r")') if m[1] == "readable" else ("day-open-write", 'open(..., "w")')
    return LineAnswer("day-mode", {"x": file, "a": m[1]}, (file,), (fix,))


def no_number(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """``float(x)`` or ``int(x)`` of something that is neither a number nor a text."""
    values = {
        text(node.args[0]) for node in nodes if isinstance(node, ast.Call) and text(node.func) == m[1] and node.args
    }
    if len(values) != 1:
        return None
    value, kind = values.pop(), m[2]
    fixes: tuple[tuple[str, str], ...] = (("own-look", f"print(type({value}))"),)
    if kind == "NoneType":
        fixes = (("own-guard", f"if {value} is not None:"),)
    elif kind in FUNCTIONS:
        fixes = (("day-call", f"{m[1]}({value}())"),)
    elif kind in ("list", "tuple"):
        fixes = (("own-first", f"{m[1]}({value}[0])"),)
    return LineAnswer("day-number", {"x": value, "t": kind}, (value,), fixes)


def unequal(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """``zip`` of things that are not equally long, where they have to be."""
    calls = [node for node in nodes if isinstance(node, ast.Call) and text(node.func) == "zip"]
    if len(calls) != 1 or any(isinstance(one, ast.Starred) for one in calls[0].args):
        return None
    names = [text(one) for one in calls[0].args]
    number = int(m[1])
    if not 1 < number <= len(names):
        return None
    values: dict[str, object] = {"x": names[number - 1], "y": ", ".join(names[: number - 1]), "more": m[2] == "longer"}
    look = f"print({', '.join(f'len({one})' for one in names)})"
    return LineAnswer(
        "day-zip-longer" if m[2] == "longer" else "day-zip-shorter", values, tuple(names), (("own-look", look),)
    )


def no_length(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """The length of something that gives its items once."""
    values = {
        text(node.args[0]) for node in nodes if isinstance(node, ast.Call) and text(node.func) == "len" and node.args
    }
    if len(values) != 1:
        return None
    value = values.pop()
    return LineAnswer("day-no-length", {"x": value, "t": m[1]}, (value,), (("day-list", f"len(list({value}))"),))
