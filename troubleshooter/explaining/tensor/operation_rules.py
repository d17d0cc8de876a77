"""What torch's operations need of shapes, dtypes and indices: each rule reads the numbers of one message."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from math import prod

from kb import lazy
from troubleshooter.explaining.divisors import nearest_divisor
from troubleshooter.explaining.python.calling import CallingLine, OperationAnswer, Rule
from troubleshooter.explaining.remedy import UNKNOWN, literal


def _matmul(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    rows, have, need, out = m.groups()
    layer = ast.unparse(line.call.func) if line.call is not None else ""
    given = line.operands[-1] if line.operands else ""
    is_layer = line.call is not None and line.function not in ("matmul", "mm", "addmm", "linear", "bmm")
    if is_layer:
        layers = (("op-layer", f"torch.nn.Linear({have}, {out})"),)
        return OperationAnswer(
            "op-linear",
            {"x": given or "the input", "layer": layer, "have": have, "need": need},
            (given, layer, "in_features"),
            layers,
        )
    left, right = line.operand(0), line.operand(1)
    fixes = (("op-transpose", f"{right}.T"),) if out == have and right else ()
    return OperationAnswer(
        "op-matmul", {"a": f"{rows}x{have}", "b": f"{need}x{out}", "have": have, "need": need}, (left, right), fixes
    )


def _cat(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    dim, want, got, which = m.groups()
    line = line.of("cat", "concat", "concatenate", "stack", "vstack", "hstack", "dstack")
    if line.function in ("stack", "vstack", "hstack", "dstack"):  # older releases of torch say the same of both
        rows = line.operand(0) or "tensors"
        look = (("op-look", f"print([x.shape for x in {rows}])"),) if line.operand(0) else ()
        return OperationAnswer("op-stack-sizes", {"a": want, "b": got}, (rows,), look)
    key = "op-cat" if which else "op-cat-sizes"
    fixes = (("op-dim", f"dim={1 - int(dim)}"),) if dim in ("0", "1") else ()  # of two dimensions the other was meant
    return OperationAnswer(key, {"dim": dim, "want": want, "got": got, "which": which}, (line.operand(0), "dim"), fixes)


def _view(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    line = line.of("view", "reshape", "view_as", "reshape_as", "unflatten")
    sizes = [int(part) for part in m[1].split(",") if part.strip()]
    total = int(m[2])
    fixes = view_sizes(sizes, total, line.operand(0) or "x", line.function or "view", _written(line, sizes))
    return OperationAnswer("op-view", {"sizes": m[1], "total": total}, (line.operand(0), "shape"), fixes)


def view_sizes(
    sizes: list[int], total: int, tensor: str, function: str, written: Sequence[bool] = ()
) -> tuple[tuple[str, str], ...]:
    """The calls with sizes that fit. ``written``: which of the sizes the line writes as a number; without it all may change."""
    fitting = _fitting(sizes, total, written or [True] * len(sizes))
    return tuple(("op-sizes", f"{tensor}.{function}({', '.join(map(str, one))})") for one in fitting)


def _written(line: CallingLine, sizes: list[int]) -> list[bool]:
    """Which sizes a line writes as numbers; a name such as ``config.hidden_size`` is changed only where
    nothing else can be. Empty if it writes none."""
    given = line.call.args if line.call is not None else []
    if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)):
        given = given[0].elts
    written = [literal(ast.unparse(one)) is not UNKNOWN for one in given]
    is_any = any(is_number and size > 0 for is_number, size in zip(written, sizes, strict=False))
    return written if len(given) == len(sizes) and is_any else []


def _fitting(sizes: list[int], total: int, written: Sequence[bool]) -> list[list[int]]:
    """Sizes with one number changed so that they hold ``total`` values, the later numbers and small changes first."""
    found = []
    for at in range(len(sizes) - 1, -1, -1):
        if sizes[at] < 0 or not written[at]:
            continue
        others = prod(size for n, size in enumerate(sizes) if n != at and size > 0)
        if others <= 0 or total % others:
            continue
        room = total // others
        best = nearest_divisor(room, sizes[at]) if -1 in sizes else room
        if best is not None:
            found.append([*sizes[:at], best, *sizes[at + 1 :]])
    return found[:2]


def _stride(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    line = line.of("view")
    text = ast.unparse(line.call) if line.call is not None else "x.view(...)"
    return OperationAnswer(
        "op-stride", {}, (line.operand(0), "view"),
        (("op-reshape", text.replace(".view(", ".reshape(")), ("op-reshape", text.replace(".view(", ".contiguous().view("))),
    )  # fmt: skip


def _embedding(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    table = ast.unparse(line.call.func) if line.call is not None else "embedding"
    ids = line.operands[-1] if line.operands else "ids"
    fixes = (
        ("op-look", f"print({ids}.max(), {table}.num_embeddings)"),
        ("op-embedding", "num_embeddings=int(ids.max()) + 1"),
    )
    return OperationAnswer("op-embedding-range", {"ids": ids, "table": table}, (ids, "input", "num_embeddings"), fixes)


def _repeats(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    rows, repeats = line.operand(0), line.operand(1)
    fixes = (("op-look", f"print({rows}.shape, {repeats}.shape)"),) if rows and repeats else ()
    return OperationAnswer("op-repeats", {"a": m["a"], "b": m["b"]}, (repeats, rows, "repeats"), fixes)


def _loss(line: CallingLine) -> tuple[str, str]:
    """The logits and the labels of the line, as it names them."""
    return line.operand(0) or "logits", line.operand(1) or "labels"


def _target_size(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    logits, labels = _loss(line)
    fixes = (
        ("op-flatten", f"cross_entropy({logits}.flatten(0, 1), {labels}.flatten())"),
        ("op-flatten", f"cross_entropy({logits}.transpose(1, 2), {labels})"),
    )
    return OperationAnswer("op-target-size", {"want": m[1], "got": m[2]}, (logits, labels, "input", "target"), fixes)


def _batch(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    logits, labels = _loss(line)
    return OperationAnswer(
        "op-batch",
        {"a": m[1], "b": m[2]},
        (logits, labels, "labels", "target"),
        (("op-look", f"print({logits}.shape, {labels}.shape)"),),
    )


def _target_range(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    logits, labels = _loss(line)
    fixes = (("op-look", f"print({labels}.min(), {labels}.max(), {logits}.shape)"),)
    return OperationAnswer(
        "op-target-range", {"x": m[1], "labels": labels, "logits": logits}, (labels, "target", "num_labels"), fixes
    )


def _long(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    which = line.operands[-1] if line.operands else "target"
    return OperationAnswer("op-long", {"x": which}, (which, "target", "index"), (("op-cast", f"{which}.long()"),))


def _dtypes(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    layer = ast.unparse(line.call.func) if line.call is not None else ""
    given = line.operands[-1] if line.operands else "x"
    dtype = {"Float": "float32", "Double": "float64", "Half": "float16", "BFloat16": "bfloat16"}
    second = m[2] if m[2] in dtype else m[2].capitalize()
    fixes = (
        ("op-cast", f"{given}.to(torch.{dtype.get(second, second.lower())})"),
        ("op-cast", f"{layer or 'model'}.to({given}.dtype)"),
    )
    return OperationAnswer("op-dtypes", {"a": m[1], "b": m[2]}, (given, layer, "mat1", "mat2"), fixes)


def _expand(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    target, have = ([int(n) for n in m[k].split(",")] for k in (4, 5))
    tensor = line.operand(0) or "x"
    fixes = []
    for at in range(len(have), -1, -1):
        wide = [*have[:at], 1, *have[at:]]
        if len(wide) == len(target) and all(a in (1, b) for a, b in zip(wide, target, strict=True)):
            fixes.append(("op-sizes", f"{tensor}.unsqueeze({at}).expand({', '.join(map(str, target))})"))
    return OperationAnswer("op-expand", {"target": m[4], "have": m[5], "dim": m[3]}, (tensor, "size"), tuple(fixes[:2]))


def _stack(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    rows = line.operand(0) or "tensors"
    return OperationAnswer(
        "op-stack", {"a": m[1], "b": m[2]}, (rows, "tensors"),
        (("op-pad", f"torch.nn.utils.rnn.pad_sequence({rows}, batch_first=True)"),),
    )  # fmt: skip


def _broadcast(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    values: dict[str, object] = {"a": m[1], "b": m[2], "dim": m[3]}
    if len(line.pairs) > 1:  # which of the operators it was, the line does not show
        return OperationAnswer(
            "op-broadcast", values, tuple(dict.fromkeys(side for pair in line.pairs for side in pair))
        )
    if line.function == "scaled_dot_product_attention":  # the scores are [batch, heads, queries, keys]
        given = {word.arg: ast.unparse(word.value) for word in line.call.keywords} if line.call is not None else {}
        mask = given.get("attn_mask") or line.operand(3)
        return OperationAnswer(
            "op-broadcast", values, (mask,), (("op-unsqueeze", f"{mask}[:, None, None, :]"),) if mask else ()
        )
    left, right = line.pairs[0] if line.pairs else (line.operand(0), line.operand(1))
    if line.function == "kl_div":  # torch computes target * (log(target) - input), so a is the target
        left, right = right, left
    fixes: tuple[tuple[str, str], ...] = ()
    if left and right:
        fixes = (("op-look", f"print({left}.shape, {right}.shape)"),)
    fixes = (*_by_size(int(m[1]), int(m[2]), m[3], left, right), *fixes)
    if m[3] != "0":  # else the numbers of rows differ, and no dimension more changes that
        fixes += tuple(("op-unsqueeze-if", f"{side}.unsqueeze(-1)") for side in (right, left) if side)
    return OperationAnswer("op-broadcast", values, (left, right), fixes)


_ANGLES = lazy.compile(r"(?i)cos|sin|freq|rot|rope|angle")
_VOCABULARY_LEAST, _VOCABULARY_DIMENSION = 100, "2"
"""Entries that a vocabulary has at least, and the dimension of logits that it is: [batch, length, vocabulary]."""
_ROUNDED = (8, 16, 32, 64, 128, 256, 512)
"""What sizes of vocabularies are rounded up to. Hidden sizes are multiples of 8 themselves."""


def _by_size(left: int, right: int, dimension: str, left_name: str, right_name: str) -> Iterator[tuple[str, str]]:
    """What two sizes tell by their relation: half of the other, or the other rounded up."""
    small, large = sorted((left, right))
    small_name, large_name = (left_name, right_name) if left < right else (right_name, left_name)
    if large == 2 * small and _ANGLES.search(small_name) is not None:
        yield "op-repeat-half", f"torch.cat(({small_name}, {small_name}), dim=-1)"
    is_rounded = small % 8 != 0 and any(-(-small // one) * one == large for one in _ROUNDED)
    if small >= _VOCABULARY_LEAST and is_rounded and dimension == _VOCABULARY_DIMENSION and large_name:
        yield "op-cut-padding", f"{large_name}[..., :{small}]"


def _mask(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    tensor, mask = line.operand(0), line.operand(1) or "mask"
    sizes = [part.strip() for part in m[1].split(",")]
    there = [part.strip() for part in m[3].split(",")][: len(sizes)]
    return OperationAnswer(
        "op-mask",
        {"mask": m[1], "tensor": m[3]},
        (mask, tensor),
        (("op-mask-shape", f"{mask} of shape [{', '.join(there)}]"),),
    )


def _mean(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    tensor = line.operand(0) or "x"
    return OperationAnswer("op-mean", {}, (tensor,), (("op-cast", f"{tensor}.float().mean()"),))


def _bool_minus(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    mask = line.operand(1) or line.operand(0) or "mask"
    return OperationAnswer("op-bool", {}, (mask,), (("op-invert", f"~{mask}"), ("op-cast", f"{mask}.int()")))


def _scalar(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    tensor = line.operand(0) or "x"
    return OperationAnswer(
        "op-scalar",
        {"n": m[1]},
        (tensor,),
        (("op-mean-first", f"{tensor}.mean().item()"), ("op-list", f"{tensor}.tolist()")),
    )


def _index_dims(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    dim = line.operand(1)
    index = line.operand(2) or "index"
    return OperationAnswer(
        "op-index-dims", {"x": index}, (index, "index"), (("op-unsqueeze", f"{index}.unsqueeze({dim or -1})"),)
    )


def _dim(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    low, high, got = m.groups()
    return OperationAnswer(
        "op-dim-range",
        {"low": low, "high": high, "got": got},
        ("dim",),
        (("op-dim", f"dim={high}"), ("op-dim", "dim=-1")),
    )


def _truth(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    return OperationAnswer("op-truth", {}, line.operands[:2], (("op-any", ".any()"), ("op-any", ".all()")))


def _ragged(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    return OperationAnswer(
        "op-ragged", {"a": m[1], "b": m[3], "dim": m[2]}, (line.operand(0),), (("op-pad", "padding=True"),)
    )


def _channels(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    return OperationAnswer(
        "op-channels",
        {"want": m[2], "got": m[3]},
        (line.operand(0), "in_channels"),
        (("op-layer", f"in_channels={m[3]}"),),
    )


RULES: tuple[tuple[str, re.Pattern[str], Rule], ...] = (
    ("mat1 and mat2 shapes cannot be", lazy.compile(r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)"), _matmul),
    ("Sizes of tensors must match except in", lazy.compile(r"Sizes of tensors must match except in dimension (\d+)\. (?:Got|Expected size) (\d+) (?:and|but got size) (\d+)(?: .{0,80}?number (\d+))?"), _cat),
    ("]' is invalid for input of size", lazy.compile(r"shape '\[([^\]]{0,200})\]' is invalid for input of size (\d+)"), _view),
    ("view size is not compatible with input", lazy.compile(r"view size is not compatible with input tensor's size and stride"), _stride),
    ("repeats must have the same size as", lazy.compile(r"repeats must have the same size as input along dim, but got repeats\.size\(0\) = (?P<a>\d+) and input\.size\(0\) = (?P<b>\d+)"), _repeats),
    ("index out of range in self", lazy.compile(r"^index out of range in self$"), _embedding),
    ("Expected target size", lazy.compile(r"Expected target size (\[[^\]]{0,200}\]), got (\[[^\]]{0,200}\])"), _target_size),
    (") to match target batch_size (", lazy.compile(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)"), _batch),
    ("is out of bounds", lazy.compile(r"Target (-?\d+) is out of bounds"), _target_range),
    ("xpected ", lazy.compile(r"expected target dtype to be Long|expected scalar type Long but found \w+|Expected dtype int64 for index"), _long),
    ("have the same dtype, but got", lazy.compile(r"(?:mat1 and mat2|m1 and m2) (?:must|to) have the same dtype, but got:? ?(\S+) and (\S+)"), _dtypes),
    ("The expanded size of the tensor (", lazy.compile(r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\) at non-singleton dimension (\d+)\.\s+Target sizes: \[([^\]]{0,200})\]\. Tensor sizes: \[([^\]]{0,200})\]"), _expand),
    ("stack expects each tensor to be equal", lazy.compile(r"stack expects each tensor to be equal size, but got (\[[^\]]{0,200}\]) at entry \d{1,18} and (\[[^\]]{0,200}\])"), _stack),
    (") must match the size of tensor b (", lazy.compile(r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)"), _broadcast),
    ("does not match the shape of the indexed", lazy.compile(r"The shape of the mask \[([^\]]{0,200})\] at index (\d{1,18}) does not match the shape of the indexed tensor \[([^\]]{0,200})\]"), _mask),
    ("mean(): could not infer output dtype", lazy.compile(r"mean\(\): could not infer output dtype"), _mean),
    ("Subtraction, the `-` operator, with", lazy.compile(r"Subtraction, the `-` operator, with (?:a|two) bool tensors?"), _bool_minus),
    ("elements cannot be converted to Scalar", lazy.compile(r"a Tensor with (\d+) elements cannot be converted to Scalar"), _scalar),
    ("Index tensor must have the same number", lazy.compile(r"Index tensor must have the same number of dimensions as \w+ tensor"), _index_dims),
    ("Dimension out of range (expected to be", lazy.compile(r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)"), _dim),
    ("Boolean value of Tensor with more than", lazy.compile(r"Boolean value of Tensor with more than one value is ambiguous"), _truth),
    ("expected sequence of length", lazy.compile(r"expected sequence of length (\d+) at dim (\d+) \(got (\d+)\)"), _ragged),
    ("channels, but got", lazy.compile(r"expected input(\[[^\]]{0,200}\]) to have (\d+) channels, but got (\d+) channels"), _channels),
)  # fmt: skip
