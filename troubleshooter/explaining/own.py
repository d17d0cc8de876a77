"""Python's own exceptions in the user's own code: what the line asked for, and which operand can have been at fault.

Only what the message and the shown line say is told. Where the line does not show which operand it was, all that can have
been are named.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origins import Origin, is_own
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.shown import code, marked, parsed
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure


@dataclass(frozen=True)
class OwnCodeAnswer:
    """A rule's answer: the sentence, the names at fault, and what to do."""

    key: str
    values: dict[str, object]
    names: tuple[str, ...] = ()
    fixes: tuple[tuple[str, str], ...] = ()


Rule = Callable[[re.Match[str], "list[ast.AST]"], "OwnCodeAnswer | None"]


def explain(failure: Failure, lang: str) -> FoundPlace | None:
    """The explanation of an exception that Python itself raised in a line of the user's; None where no rule fits.

    A call that does not fit its function is explained without a frame, too: its message names both.
    """
    frame = failure.frames[-1] if failure.frames else None
    mine = frame is not None and is_own(frame)
    for exception, pattern, rule in RULES:
        if not mine and rule not in (_missing, _unexpected, _positional):
            continue
        if failure.type not in exception.split() or not (found := re.search(pattern, failure.message)):
            continue
        for text in (marked(frame), code(frame)) if frame is not None else ("",):
            tree = parsed(text)
            told = rule(found, list(ast.walk(tree)) if tree is not None else [])
            if told is not None:
                names = dict.fromkeys(name for name in told.names if name)
                return FoundPlace(
                    frame, say(told.key, lang, **told.values), [Origin(name, "data") for name in names],
                    [Remedy(key, (("x", text),), text, "rule") for key, text in told.fixes], "rule",
                )  # fmt: skip
    return None


def _of(nodes: list[ast.AST], *kinds: type[ast.AST]) -> Iterator[ast.AST]:
    return (node for node in nodes if isinstance(node, kinds))


def _text(node: ast.AST) -> str:
    return ast.unparse(node)[:120]


def _key(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    subscripts = [node for node in nodes if isinstance(node, ast.Subscript)]
    fitting = [node for node in subscripts if _text(node.slice) == m[0]] or subscripts
    if not fitting:
        return None
    holder = _text(fitting[0].value)
    return OwnCodeAnswer(
        "own-key", {"k": m[0], "x": holder}, (holder, m[0].strip("'\"")), (("own-look", f"print({holder}.keys())"),)
    )


def _index(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Subscript):
            holder, index = _text(node.value), _text(node.slice)
            return OwnCodeAnswer(
                "own-index",
                {"x": holder, "i": index},
                (holder, index),
                (("own-guard", f"if len({holder}) > {index}:"),),
            )
    return None


def _none(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == m[1]:
            holder = _text(node.value)
            return OwnCodeAnswer(
                "own-none", {"x": holder, "a": m[1]}, (holder,), (("own-guard", f"if {holder} is not None:"),)
            )
    return None


def _none_item(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Subscript):
            holder = _text(node.value)
            key = "own-none-item" if m[1] == "NoneType" else "own-no-items"
            return OwnCodeAnswer(key, {"x": holder, "t": m[1]}, (holder,), (("own-look", f"print(type({holder}))"),))
    return None


def _attribute(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr == m[2]:
            holder = _text(node.value)
            fixes = [("own-look", f"print(type({holder}))")]
            if m[1] == "list" and m[2] in ("to", "shape", "size", "cuda", "cpu", "dim", "view", "device", "dtype"):
                fixes.insert(0, ("own-tensor", f"torch.tensor({holder})"))
            return OwnCodeAnswer("own-attribute", {"x": holder, "t": m[1], "a": m[2]}, (holder, m[2]), tuple(fixes))
    return None


def _zero(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    divisors = [
        _text(node.right)
        for node in nodes
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Div, ast.FloorDiv, ast.Mod))
    ]
    if not divisors:
        return None
    each = " / ".join(f"`{one}`" for one in divisors)
    return OwnCodeAnswer("own-zero", {"x": each}, tuple(divisors), (("own-guard", f"max(1, {divisors[0]})"),))


def _unpack(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, (ast.For, ast.comprehension)):
            target, value = node.target, node.iter
        elif isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
        else:
            continue
        if isinstance(target, ast.Tuple):
            names, count = _text(target).strip("()"), len(target.elts)
            wanted = m[2] or str(count)
            key = "own-unpack-many" if m[1].startswith("too many") else "own-unpack-few"
            fixes = (("own-unpack-rest", f"{names}, *rest"),) if key == "own-unpack-many" else ()
            look = ("own-look", f"print({_text(value)})")
            return OwnCodeAnswer(
                key, {"x": _text(value), "names": names, "n": wanted}, (_text(value), names), (*fixes, look)
            )
    return None


def _missing(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    names = re.findall(r"'(\w+)'", m[3])
    function = m[1].rpartition(".")[2]
    fixes = tuple(("own-pass", f"{name}=...") for name in names)
    calls = [
        node
        for node in _of(nodes, ast.Call)
        if isinstance(node, ast.Call) and _text(node.func).rpartition(".")[2] == function
    ]
    passed = [_text(part) for part in calls[0].args] if calls else []
    key = "own-missing-shifted" if passed and m[2] == "positional" else "own-missing"
    values = {"f": m[1], "names": ", ".join(names), "passed": ", ".join(passed)}
    return OwnCodeAnswer(key, values, tuple(names), fixes)


def _unexpected(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    return OwnCodeAnswer(
        "own-unexpected",
        {"f": m[1], "x": m[2]},
        (m[2],),
        (("own-remove", m[2]),) + (((("own-rename", m[3]),)) if m[3] else ()),
    )


def _positional(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    return OwnCodeAnswer("own-positional", {"f": m[1], "most": m[2], "given": m[3]}, (m[1],), ())


def _concatenate(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            other = _text(node.right)
            fix = f"str({other})" if m[1] == "str" else f"{m[1]}({other})"
            return OwnCodeAnswer(
                "own-concatenate",
                {"x": _text(node.left), "y": other, "t": m[2]},
                (other, _text(node.left)),
                (("own-convert", fix),),
            )
    return None


def _operand(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    sides: tuple[str, str] | None = None
    for node in nodes:
        if isinstance(node, ast.BinOp):
            sides = _text(node.left), _text(node.right)
        elif isinstance(node, ast.AugAssign):
            sides = _text(node.target), _text(node.value)
        elif isinstance(node, ast.Compare):
            sides = _text(node.left), _text(node.comparators[0])
        if sides is not None:
            break
    if sides is None:
        return None
    fixes: list[tuple[str, str]] = []
    for kind, side in zip((m[2], m[3]), sides, strict=True):
        if kind == "str":
            fixes.append(("own-convert", f"float({side})"))
        elif kind == "NoneType":
            fixes.append(("own-guard", f"if {side} is not None:"))
    return OwnCodeAnswer(
        "own-operand", {"x": sides[0], "y": sides[1], "a": m[2], "b": m[3], "op": m[1]}, sides, tuple(fixes)
    )


def _not_callable(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Call):
            return OwnCodeAnswer(
                "own-callable",
                {"x": _text(node.func), "t": m[1]},
                (_text(node.func),),
                (("own-look", f"print(type({_text(node.func)}))"),),
            )
    return None


def _not_iterable(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        value = node.iter if isinstance(node, (ast.For, ast.comprehension)) else None
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            value = node.value
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            value = node.comparators[0]
        if value is not None:
            return OwnCodeAnswer(
                "own-iterable",
                {"x": _text(value), "t": m[1]},
                (_text(value),),
                (("own-look", f"print(type({_text(value)}))"),),
            )
    return None


def _unbound(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    return OwnCodeAnswer("own-unbound", {"x": m[1]}, (m[1],), (("own-assign", f"{m[1]} = ..."),))


_USUAL = {"np": "import numpy as np", "pd": "import pandas as pd", "F": "import torch.nn.functional as F", "nn": "from torch import nn", "plt": "import matplotlib.pyplot as plt"}  # fmt: skip


def _name(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    import sys

    name = m[1]
    fixes: list[tuple[str, str]] = []
    if name in _USUAL:
        fixes.append(("own-import", _USUAL[name]))
    elif name in sys.stdlib_module_names or name in ("torch", "transformers", "datasets", "peft", "trl", "accelerate"):
        fixes.append(("own-import", f"import {name}"))
    if m[2]:
        fixes.insert(0, ("own-rename", m[2]))
    return OwnCodeAnswer("own-name", {"x": name}, (name,), tuple(fixes))


def _number(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Call) and _text(node.func) in ("float", "int") and node.args:
            value = _text(node.args[0])
            return OwnCodeAnswer(
                "own-number", {"x": value, "v": m[1]}, (value,), (("own-look", f"print(repr({value}))"),)
            )
    return None


def _file(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    return OwnCodeAnswer(
        "own-file", {"x": m[1]}, (m[1],), (("own-look", f"print(os.path.abspath({m[1]!r}), os.listdir())"),)
    )


def _assert(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    for node in nodes:
        if isinstance(node, ast.Assert):
            names = [n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)]
            return OwnCodeAnswer("own-assert", {"x": _text(node.test)}, tuple(names), ())
    return None


def _raised(m: re.Match[str], nodes: list[ast.AST]) -> OwnCodeAnswer | None:
    return OwnCodeAnswer("own-raise", {}, (), ()) if next(_of(nodes, ast.Raise), None) is not None else None


RULES: tuple[tuple[str, str, Rule], ...] = (
    ("KeyError", r"^.{1,200}$", _key),
    ("IndexError", r"(?:list|tuple|string) index out of range|pop from empty", _index),
    ("AttributeError", r"'NoneType' object has no attribute '(\w+)'", _none),
    ("AttributeError", r"'([\w.]+)' object has no attribute '(\w+)'", _attribute),
    ("TypeError", r"'([\w.]+)' object is not subscriptable", _none_item),
    ("ZeroDivisionError", r"", _zero),
    ("ValueError", r"(too many values to unpack|not enough values to unpack) \(expected (?:at least )?(\d+)", _unpack),
    ("TypeError", r"([\w.<>]+)\(\) missing \d+ required (positional|keyword-only) arguments?: (.*)", _missing),
    ("TypeError", r"([\w.<>]+)\(\) got an unexpected keyword argument '(\w+)'(?:\. Did you mean '(\w+)')?", _unexpected),
    ("TypeError", r"([\w.<>]+)\(\) takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were)\b", _positional),
    ("TypeError", r"can only concatenate (\w+) \(not \"([\w.]+)\"\) to", _concatenate),
    ("TypeError", r"(?:unsupported operand type\(s\) for|') ?([^:']{1,12}):? ?'?(?: not supported between instances of)? ?'([\w.]+)' and '([\w.]+)'", _operand),
    ("TypeError", r"'([\w.]+)' object is not callable", _not_callable),
    ("TypeError", r"'([\w.]+)' object is not iterable|argument of type '([\w.]+)' is not iterable|cannot unpack non-iterable", _not_iterable),
    ("UnboundLocalError", r"local variable '(\w+)'", _unbound),
    ("NameError", r"name '(\w+)' is not defined(?:\. Did you mean: '(\w+)')?", _name),
    ("ValueError", r"could not convert string to float: ('.*'|\".*\")", _number),
    ("ValueError", r"invalid literal for int\(\) with base \d+: ('.*'|\".*\")", _number),
    ("FileNotFoundError", r"No such file or directory: ['\"](.{1,300}?)['\"]$", _file),
    ("AssertionError", r"", _assert),
    ("AssertionError RuntimeError ValueError TypeError Exception KeyError NotImplementedError", r"", _raised),
)  # fmt: skip
