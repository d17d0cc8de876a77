"""What Python's own exceptions say together with the line that raised them, whoever wrote that line.

Each rule is the exceptions, a pattern of their message, and a function from the match and the line's syntax tree to an
answer. Where the line does not show which operand was at fault, all that can have been are named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

from kb import lazy
from troubleshooter.explaining.python import (
    braces,
    everyday,
    function_rules,
    joined,
    keys,
    looped,
    number_texts,
    operands,
    slices,
    tensor_parts,
    whole_numbers,
)
from troubleshooter.explaining.python.calling import LineAnswer, LineFunction, each, text
from troubleshooter.explaining.source.shown import gone_through


def _of(nodes: list[ast.AST], *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    return (node for node in nodes if isinstance(node, kinds))


def _is_text(node: ast.expr, kind: str) -> bool:
    """Whether an operand is written as a text, which can be joined to a text."""
    return kind == "str" and (
        isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    )


def _none(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == m[1]:
            holder = text(node.value)
            return LineAnswer(
                "own-none", {"x": holder, "a": m[1]}, (holder,), (("own-guard", f"if {holder} is not None:"),)
            )
    return None


def _none_item(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    asked = {text(node.value): node for node in nodes if isinstance(node, ast.Subscript)}
    if len(asked) > 1:
        return LineAnswer("own-items-several", {"x": each(asked), "t": m[1]}, tuple(asked))
    for holder, item in asked.items():
        key = "own-none-item" if m[1] == "NoneType" else "own-no-items"
        fixes = (*everyday.of_item(m[1], item), ("own-look", f"print(type({holder}))"))
        return LineAnswer(key, {"x": holder, "t": m[1]}, (holder,), fixes)
    return None


def _attribute(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == m[2]:
            holder = text(node.value)
            offered = (*everyday.of_attribute(m[1], node, m[3]), *tensor_parts.fixes(m[1], node, nodes))
            fixes = [*offered, ("own-look", f"print(type({holder}))")]
            return LineAnswer("own-attribute", {"x": holder, "t": m[1], "a": m[2]}, (holder,), tuple(fixes))
    return None


def _missing(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    names = re.findall(r"'(\w+)'", m[3])
    function = m[1].rpartition(".")[2]
    fixes = tuple(("own-pass", f"{name}=...") for name in names)
    calls = [
        node
        for node in _of(nodes, ast.Call)
        if isinstance(node, ast.Call) and text(node.func).rpartition(".")[2] == function
    ]
    passed = [text(part) for part in calls[0].args] if calls else []
    key = "own-missing-shifted" if passed and m[2] == "positional" else "own-missing"
    values = {"f": m[1], "names": ", ".join(names), "passed": ", ".join(passed)}
    return LineAnswer(key, values, tuple(names), fixes)


def _unexpected(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    return LineAnswer(
        "own-unexpected",
        {"f": m[1], "x": m[2]},
        (m[2],),
        (("own-remove", m[2]),) + (((("own-rename", m[3]),)) if m[3] else ()),
    )


def _positional(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    more, before = int(m[3]) - int(m[2]), "" if m[2] == "0" else "..., "
    fixes = (("day-parameters", f"def {m[1].rpartition('.')[2]}({before}_):"),) if more == 1 else ()
    return LineAnswer("own-positional", {"f": m[1], "most": m[2], "given": m[3]}, (m[1],), fixes)


def _concatenate(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and not _is_text(node.right, m[1]):
            other = text(node.right)
            fix = joined.wrapped(m[1], m[2], node.right) or ("own-convert", f"{m[1]}({other})")
            is_look = m[1] == "str" and m[2] in _CONTAINERS
            fixes = (*_joined(m[1], m[2], node.right), ("own-look", f"print({other})")) if is_look else (fix,)
            return LineAnswer(
                "own-concatenate",
                {"x": text(node.left), "y": other, "t": m[2]},
                (other, text(node.left)),
                fixes,
            )
    return None


def _joined(kind: str, other: str, side: ast.expr) -> Iterator[tuple[str, str]]:
    """The items of a list, or what a function gives, in place of the list or the function."""
    if kind == "str" and other in ("list", "tuple"):
        yield "day-join", f'", ".join(map(str, {text(side)}))'
    elif other in everyday.FUNCTIONS:
        yield "day-call", f"{text(side)}()"


_CONTAINERS = frozenset(
    ("list", "tuple", "dict", "set", "NoneType", "generator", "function", "method", "Tensor", "ndarray")
)
"""Classes whose text is hardly what was to be joined."""


def _not_callable(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    functions = {text(node.func): node for node in nodes if isinstance(node, ast.Call)}
    called = {name: call for name, call in functions.items() if name not in _BUILT_IN}
    plain = {name: call for name, call in called.items() if "." not in name}
    if m[1] in ("Tensor", "str", "int", "float", "list", "dict") and len(plain) == 1:
        called = plain  # a method of an object is hardly a value
    if len(called) > 1:
        return LineAnswer("own-callable-several", {"x": each(called), "t": m[1]}, tuple(called))
    for function, call in called.items():
        fixes = (*everyday.of_call(m[1], call), ("own-look", f"print(type({function}))"))
        return LineAnswer("own-callable", {"x": function, "t": m[1]}, (function,), fixes)
    return None


_BUILT_IN = frozenset(
    ("print", "len", "list", "tuple", "dict", "set", "range", "enumerate", "zip", "super", "isinstance")
)


def _not_iterable(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    for node in nodes:
        value = node.iter if isinstance(node, (ast.For, ast.comprehension)) else None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            value = node.value
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            value = node.comparators[0]
        several = [text(one) for one in gone_through(value)] if value is not None else []
        if len(several) > 1:
            return LineAnswer("own-iterable-several", {"x": each(several), "t": m[1] or m[2] or m[3]}, tuple(several))
        if value is not None:
            value = gone_through(value)[0]
            kind = m[1] or m[2] or m[3]
            is_loop = isinstance(node, (ast.For, ast.comprehension))
            fixes = (*(everyday.of_loop(kind, value) if is_loop else ()), ("own-look", f"print(type({text(value)}))"))
            return LineAnswer("own-iterable", {"x": text(value), "t": kind}, (text(value),), fixes)
    return None


def _unbound(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    return LineAnswer("own-unbound", {"x": m[1]}, (m[1],), (("own-assign", f"{m[1]} = ..."),))


_USUAL = {"np": "import numpy as np", "pd": "import pandas as pd", "F": "import torch.nn.functional as F", "nn": "from torch import nn", "plt": "import matplotlib.pyplot as plt"}  # fmt: skip


def _name(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    import sys

    name = m[1]
    fixes: list[tuple[str, str]] = []
    if name in _USUAL:
        fixes.append(("own-import", _USUAL[name]))
    elif name in sys.stdlib_module_names or name in ("torch", "transformers", "datasets", "peft", "trl", "accelerate"):
        fixes.append(("own-import", f"import {name}"))
    if m[2]:
        fixes.insert(0, ("own-rename", m[2]))
    return LineAnswer("own-name", {"x": name}, (name,), tuple(fixes))


def _file(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    if any(isinstance(node, ast.Call) and text(node.func) == "os.mkdir" for node in nodes):
        fixes = (("own-make-folder", f"os.makedirs({m[1]!r}, exist_ok=True)"),)
        return LineAnswer("own-folder", {"x": m[1], "d": PurePath(m[1]).parent.as_posix()}, (m[1],), fixes)
    return LineAnswer(
        "own-file", {"x": m[1]}, (m[1],), (("own-look", f"print(os.path.abspath({m[1]!r}), os.listdir())"),)
    )


def _assert(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Assert):
            names = [n.id for n in ast.walk(node.test) if isinstance(n, ast.Name) and n.id not in ("self", "cls")]
            said = node.msg is not None  # behind the whole check
            return LineAnswer("own-assert", {"x": text(node.test), "said": said}, tuple(names), ())
    return None


def _not_written(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    return LineAnswer("own-not-written", {}) if next(_of(nodes, ast.Raise), None) is not None else None


def _raised(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    return LineAnswer("own-raise", {}) if next(_of(nodes, ast.Raise), None) is not None else None


LineRule = tuple[str, re.Pattern[str], LineFunction]
"""The names of exceptions, a pattern of the message, and the rule."""

CALLS: tuple[LineRule, ...] = (
    ("TypeError", lazy.compile(r"(?<![\w.<>])([\w.<>]{1,200})\(\) missing \d+ required (positional|keyword-only) arguments?: (.*)"), _missing),
    ("TypeError", lazy.compile(r"(?<![\w.<>])([\w.<>]{1,200})\(\) got an unexpected keyword argument '(\w+)'(?:\. Did you mean '(\w+)')?"), _unexpected),
    ("TypeError", lazy.compile(r"(?<![\w.<>])([\w.<>]{1,200})\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were)\b"), _positional),
)  # fmt: skip
"""The message names the function and the argument, so no line is needed."""

OPERANDS: tuple[LineRule, ...] = (
    ("KeyError", lazy.compile(r"^.{1,200}$"), keys.absent),
    ("IndexError", lazy.compile(r"^Replacement index (\d{1,9}) out of range for positional args tuple"), braces.numbered),
    ("ValueError", lazy.compile(r"^(?:Single '[{}]' encountered in format string|expected '}' before end of string|unexpected '\{' in field name|unmatched '[{}]' in format spec)"), braces.unbalanced),
    ("IndexError", lazy.compile(r"(?:list|tuple|string) index out of range|pop from empty"), operands.index),
    ("AttributeError", lazy.compile(r"'NoneType' object has no attribute '(\w+)'"), _none),
    ("AttributeError", lazy.compile(r"'([\w.]+)' object has no attribute '(\w+)'(?:\. Did you mean: '(\w+)')?"), _attribute),
    ("TypeError", lazy.compile(r"'([\w.]+)' object is not subscriptable"), _none_item),
    ("TypeError", lazy.compile(r"^(?P<s>list|tuple|string) indices must be integers(?:(?: or slices)?, not '?(?P<t>\w+)'?)?$"), operands.numbered),
    ("ZeroDivisionError", lazy.compile(r""), operands.zero),
    ("ValueError", lazy.compile(r"(too many values to unpack|not enough values to unpack) \(expected (?:at least )?(\d+)"), operands.unpack),
    ("TypeError", lazy.compile(r"can only concatenate (\w+) \(not \"([\w.]+)\"\) to"), _concatenate),
    ("TypeError", lazy.compile(r"can't concat (\w+) to bytes"), operands.bytes_and_text),
    ("TypeError", lazy.compile(r"(?:unsupported operand type\(s\) for|') ?([^:']{1,12}):? ?'?(?: not supported between instances of)? ?'([\w.]+)' and '([\w.]+)'"), operands.operand),
    ("TypeError", lazy.compile(r"'([\w.]+)' object is not callable"), _not_callable),
    ("TypeError", lazy.compile(r"'([\w.]+)' object is not iterable|argument of type '([\w.]+)' is not (?:a container or )?iterable|cannot unpack non-iterable ([\w.]+)"), _not_iterable),
    ("UnboundLocalError", lazy.compile(r"local variable '(\w+)'"), _unbound),
    ("NameError", lazy.compile(r"name '(\w+)' is not defined(?:\. Did you mean: '(\w+)')?"), _name),
    ("ValueError", lazy.compile(r"^range\(\) arg 3 must not be zero$"), function_rules.no_step),
    ("ValueError", lazy.compile(r"could not convert string to float: (?:np\.str_\()?('.*'|\".*\")"), number_texts.no_number),
    ("IndexError", lazy.compile(r"^no such group$"), function_rules.no_group),
    ("ValueError", lazy.compile(r"invalid literal for int\(\) with base \d+: ('.*'|\".*\")"), number_texts.no_number),
    ("FileNotFoundError", lazy.compile(r"No such file or directory: ['\"](.{1,300}?)['\"]$"), _file),
    ("AssertionError", lazy.compile(r""), _assert),
    ("ValueError", lazy.compile(r"^(?:(.{1,120}) is not in (?:list|deque|tuple|range)|list\.remove\(x\): x not in list|tuple\.index\(x\): x not in tuple)$"), function_rules.not_in),
    ("TypeError", lazy.compile(r"^len\(\) of (?:a 0-d tensor|unsized object)"), function_rules.no_length),
    ("IndexError", lazy.compile(r"^Cannot choose from an empty sequence"), function_rules.nothing_to_choose),
    ("ValueError", lazy.compile(r"^(?:Sample larger than population|Cannot take a larger sample than population)"), function_rules.sample),
    ("ValueError", lazy.compile(r"^dictionary update sequence element #(\d+) has length (\d+); 2 is required"), function_rules.pairs_wanted),
    ("ValueError OverflowError", lazy.compile(r"^math (?:domain|range) error|^expected a (?:non-?negative|positive) input"), function_rules.domain),
    ("TypeError", lazy.compile(r"^'(\w+)' object does not support item assignment$"), everyday.fixed_item),
    ("TypeError", lazy.compile(r"^unhashable type: '(\w+)'"), everyday.key_kind),
    ("TypeError", lazy.compile(r"^object of type '(generator|map|filter|zip|reversed|enumerate)' has no len\(\)$"), everyday.no_length),
    ("UnsupportedOperation", lazy.compile(r"^not (readable|writable)$"), everyday.file_mode),
    ("TypeError", lazy.compile(r"^(float|int)\(\) argument must be [^\n]{1,80}, not '?([\w.]{1,80})"), everyday.no_number),
    ("ValueError", lazy.compile(r"^zip\(\) argument (\d{1,3}) is (shorter|longer) than arguments? 1"), everyday.unequal),
    ("IsADirectoryError", lazy.compile(r"^\[Errno 21\] Is a directory: ['\"](.{1,300}?)['\"]$"), function_rules.is_folder),
)  # fmt: skip
"""The line shows the operands."""

OWN: tuple[LineRule, ...] = (
    ("OverflowError", lazy.compile(r"^Python integer (-?\d{1,30}) out of bounds for (u?int)(8|16|32|64)$"), whole_numbers.out_of_bounds),
    ("TypeError", lazy.compile(r"^slice indices must be integers"), operands.slice_bound),
    ("RuntimeError", lazy.compile(r"^(?:OrderedDict|deque) mutated during iteration$|^(?:dictionary|Set) (?:changed size|keys changed) during iteration$"), looped.changed),
    ("TypeError", lazy.compile(r"^(?:can only assign an iterable|must assign iterable to extended slice)$"), slices.one_value),
    ("StopIteration", lazy.compile(r"^$"), function_rules.at_end),
)  # fmt: skip
"""The same for the user's own lines only: libraries catch it themselves."""

RAISED: tuple[LineRule, ...] = (
    ("NotImplementedError", lazy.compile(r"^$"), _not_written),
    ("AssertionError RuntimeError ValueError TypeError Exception KeyError NotImplementedError", lazy.compile(r""), _raised),
)  # fmt: skip
"""What the user's own code raises."""
