"""The value of an expression such as `labels`, `batch["labels"]` or `self.config.vocab_size`, taken from crash facts."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from troubleshooter.observe.model import Frame

MAX_SIZES, MAX_NAMES, MAX_CHARACTERS = 12, 8, 160
"""At most this many sizes of a shape, names of a dict and characters of a description are shown."""
_SECRETS = "<withheld>"


def value_in(frames: Sequence[Frame], expression: str) -> str | None:
    """The value of an expression in the innermost frame that has it, in words; None if no frame has it."""
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for frame in reversed(frames):
        if frame.values and (fact := _fact(node, frame.values)) is not None and (told := described(fact)):
            return told
    return None


def described(fact: Mapping[str, Any]) -> str:
    """A fact in one line: a tensor by shape, dtype and device, a list by its length, a number or a string by its value."""
    kind = _text(fact.get("type"))
    short = kind.rpartition(".")[2]
    parts = []
    if isinstance(shape := fact.get("shape"), list):
        parts.append(f"shape=({_sizes(shape)})")
        parts += [f"{name}={_text(fact[name])}" for name in ("dtype", "device") if isinstance(fact.get(name), str)]
        if fact.get("requires_grad") is True:
            parts.append("requires_grad=True")
        return " ".join(parts)[:MAX_CHARACTERS]
    if kind == "NoneType":
        return "None"
    if kind == "torch.Size" and isinstance(fact.get("value"), list):
        return f"({_sizes(fact['value'])})"
    if kind == "str":
        value = fact.get("value")
        return repr(value)[:MAX_CHARACTERS] if isinstance(value, str) and value != _SECRETS else ""
    if isinstance(value := fact.get("value"), (bool, int, float, str)):
        return str(value)[:MAX_CHARACTERS]
    if isinstance(parameter := fact.get("parameter"), dict):
        inside = " ".join(f"{name}={_text(parameter.get(name))}" for name in ("dtype", "device"))
        return f"{short} ({inside})"[:MAX_CHARACTERS]
    if type(length := fact.get("length")) is int:
        names = fact.get("items")
        shown = ", ".join(map(_text, list(names)[:MAX_NAMES])) if isinstance(names, dict) else ""
        return f"{short}, len={length}"[:MAX_CHARACTERS] + (f": {shown}"[:MAX_CHARACTERS] if shown else "")
    return short[:MAX_CHARACTERS] if short and "attributes" in fact else ""


def _fact(node: ast.expr, values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fact of a name, or of an attribute or item of it."""
    if isinstance(node, ast.Name):
        return _dict(values.get(node.id))
    if isinstance(node, ast.Attribute):
        holder = _fact(node.value, values)
        if holder is None:
            return None
        if node.attr in ("shape", "dtype", "device") and node.attr in holder:
            value = holder[node.attr]
            return {"type": "torch.Size" if node.attr == "shape" else "torch." + node.attr, "value": value}
        return _dict(_dict_or_empty(holder.get("attributes")).get(node.attr))
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        holder, key = _fact(node.value, values), node.slice.value
        items = holder.get("items") if holder is not None else None
        if isinstance(items, dict) and isinstance(key, str):
            return _dict(items.get(key))
        if isinstance(items, list) and type(key) is int and 0 <= key < len(items):
            return _dict(items[key])
    return None


def _dict(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _dict_or_empty(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return " ".join(value[:MAX_CHARACTERS].split()) if isinstance(value, str) else ""


def _sizes(shape: Sequence[Any]) -> str:
    """``4, 512``; ``7,`` for one size, as Python writes it; ``?`` for a size that is not known."""
    shown = [str(size) if type(size) is int else "?" for size in shape[:MAX_SIZES]]
    return shown[0] + "," if len(shown) == 1 else ", ".join(shown)
