"""A tuple or a list that is asked for what only a tensor or an array has: one of its parts is meant, or a tensor made of all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_OF_BOTH = frozenset(
    (
        "shape", "size", "dtype", "device", "ndim", "dim", "numel", "view", "reshape", "flatten", "squeeze", "unsqueeze", "transpose",
        "permute", "argmax", "argmin", "mean", "sum", "max", "min", "std", "norm", "item", "tolist", "softmax", "log_softmax", "float",
        "half", "long", "bool", "bfloat16", "to", "cuda", "cpu", "astype", "argsort", "contiguous", "repeat", "expand", "masked_fill", "T",
    )
)  # fmt: skip
_OF_TENSOR = frozenset(("detach", "backward", "requires_grad", "requires_grad_", "grad", "clone", "data", "retain_grad", "register_hook", "numpy", "topk", "chunk", "gather", "zero_"))  # fmt: skip
"""What is asked of a tensor that a model has made: a new one made of a list would not do."""
_OF_NUMBERS = frozenset(("sum", "mean", "max", "min", "std", "norm", "repeat", "float", "bool", "long", "data"))
"""What is asked of a tuple of numbers as well, of which no part is meant."""
ATTRIBUTES = _OF_BOTH | _OF_TENSOR
_EACH_LAYER = ("hidden_states", "attentions")
"""Attributes of a model's output that have one part for each layer."""


def fixes(kind: str, asked: ast.Attribute, nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """Phrases and code; none for another class, or for something that a tensor has not."""
    name = asked.attr
    if kind not in ("tuple", "list") or name not in ATTRIBUTES:
        return
    holder = ast.unparse(asked.value)[:120]
    if kind == "list" and name in _OF_BOTH:
        is_array = name == "astype"
        yield ("own-convert", f"np.asarray({holder})") if is_array else ("own-tensor", f"torch.tensor({holder})")
        return
    if kind == "list" and name == "backward":
        yield "own-convert", f"sum({holder}).backward()"
        return
    is_of_layers = isinstance(asked.value, ast.Attribute) and asked.value.attr in _EACH_LAYER
    is_shape = isinstance(asked.value, ast.Attribute) and asked.value.attr == "shape"
    if is_shape or (kind == "tuple" and name in _OF_NUMBERS and not is_of_layers):
        return
    part = ast.Subscript(asked.value, ast.Constant(-1 if is_of_layers else 0), ast.Load())
    meant: ast.expr = ast.Attribute(part, name, ast.Load())
    call = next((node for node in nodes if isinstance(node, ast.Call) and node.func is asked), None)
    if call is not None:
        meant = ast.Call(meant, call.args, call.keywords)
    yield "own-first", ast.unparse(meant)[:120]
