"""The value of an expression such as `labels`, `batch["labels"]` or `self.config.vocab_size`, taken from crash facts."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from troubleshooter.observe.model import Frame

MAX_SIZES, MAX_NAMES, MAX_CHARACTERS = 12, 8, 160
"""At most this many sizes of a shape, names of a dict and characters of a description are shown."""
MAX_VALUES, MAX_DEPTH = 2000, 4
"""At most this many values of one frame are looked at, and so many levels of attributes and items."""
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


def named_values(values: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The variables of a frame with what lies in them, by names such as ``labels``, ``inputs.labels`` and ``self.weight``."""
    waiting = deque((name, fact, 1) for name, fact in values.items())
    for _ in range(MAX_VALUES):
        if not waiting:
            return
        name, fact, depth = waiting.popleft()
        if not isinstance(fact, dict):
            continue
        yield name, fact
        if depth < MAX_DEPTH:
            for inside in (fact.get("attributes"), fact.get("items")):
                parts = (
                    inside.items()
                    if isinstance(inside, dict)
                    else enumerate(inside if isinstance(inside, list) else ())
                )
                waiting += [(f"{name}.{key}", part, depth + 1) for key, part in parts]


def property_of(fact: Mapping[str, Any], name: str) -> str | bool | None:
    """A property of a value, as conditions ask for it; None if the value has none. A module has the dtype and the device of
    its first parameter."""
    if name in ("dtype", "device"):
        holder = fact if "shape" in fact else _dict_or_empty(fact.get("parameter"))
        return _text(holder.get(name)) or None
    if name == "shape":
        shape = fact.get("shape")
        return ", ".join(str(size) if type(size) is int else "?" for size in shape) if isinstance(shape, list) else None
    if name in ("requires_grad", "checkpointing"):
        return fact[name] if isinstance(fact.get(name), bool) else None
    if name == "trainable":
        return str(fact[name]) if type(fact.get(name)) is int else None
    if _text(fact.get("type")) == "NoneType":
        return "None"
    value = fact.get("value")
    return str(value) if isinstance(value, (bool, int, float, str)) else None


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
        if type(trainable := fact.get("trainable")) is int and type(count := fact.get("parameters")) is int:
            inside += f" trainable={trainable} of {count}"
        if fact.get("checkpointing") is True:
            inside += " gradient_checkpointing=True"
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
        if node.attr == "ndim" and isinstance(holder.get("shape"), list):
            return {"type": "int", "value": len(holder["shape"])}
        if node.attr in ("shape", "dtype", "device") and node.attr in holder:
            value = holder[node.attr]
            return {"type": "torch.Size" if node.attr == "shape" else "torch." + node.attr, "value": value}
        return _dict(_dict_or_empty(holder.get("attributes")).get(node.attr))
    if isinstance(node, ast.Call):
        return _called(node, values)
    if isinstance(node, ast.Subscript) and (key := _constant(node.slice)) is not None:
        holder = _fact(node.value, values)
        if holder is not None and isinstance(sizes := holder.get("value"), list):
            return _size(sizes, key)
        items = holder.get("items") if holder is not None else None
        if isinstance(items, dict) and isinstance(key, str):
            return _dict(items.get(key))
        if isinstance(items, list) and type(key) is int and 0 <= key < len(items):
            return _dict(items[key])
    return None


def _called(node: ast.Call, values: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fact of ``len(x)``, ``x.size(1)``, ``x.size()`` and ``x.dim()``."""
    if isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1 and not node.keywords:
        holder = _fact(node.args[0], values) or {}
        shape = holder.get("shape")
        length = shape[0] if isinstance(shape, list) and shape else holder.get("length")
        return {"type": "int", "value": length} if type(length) is int else None
    if isinstance(node.func, ast.Attribute) and not node.keywords:
        shape = (_fact(node.func.value, values) or {}).get("shape")
        if isinstance(shape, list) and node.func.attr == "dim" and not node.args:
            return {"type": "int", "value": len(shape)}
        if isinstance(shape, list) and node.func.attr == "size":
            return _size(shape, _constant(node.args[0])) if node.args else {"type": "torch.Size", "value": shape}
    return None


def _constant(node: ast.expr) -> str | int | None:
    """A text or number that is written out, such as ``"labels"`` or ``-1``."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if type(value) in (str, int) else None


def _size(sizes: Sequence[Any], at: str | int | None) -> Mapping[str, Any] | None:
    if type(at) is not int or not -len(sizes) <= at < len(sizes) or type(sizes[at]) is not int:
        return None
    return {"type": "int", "value": sizes[at]}


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
