"""What torch asks for besides shapes that `operations` knows: checkpoints, gradients, devices, batches, layers.

Each rule is a pattern of torch's message whose groups fill a sentence, and what to do. ``x`` and ``y`` are the first two
operands of the calling line; what needs one that the line does not show is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.python.calling import CallingLine, OperationAnswer, Rule

MAX_KEYS = 3
"""Names of a checkpoint that are shown of each sort."""


def _told(key: str, *fixes: tuple[str, str], names: tuple[str, ...] = ("x", "y")) -> Rule:
    def rule(found: re.Match[str], line: CallingLine) -> OperationAnswer:
        shown = {"x": line.operand(0), "y": line.operand(1)}
        values = {**{name: text or "the tensor" for name, text in shown.items()}, **found.groupdict("")}
        made = [
            (word, code.format(**values))
            for word, code in fixes
            if all(text or f"{{{name}}}" not in code for name, text in shown.items())
        ]
        return OperationAnswer(key, dict(values), tuple(shown.get(name, name) for name in names), tuple(made))

    return rule


def _result_type(found: re.Match[str], line: CallingLine) -> OperationAnswer:
    """A tensor of integers that takes a result in place or, in a call that changes nothing in place, is the target of a loss."""
    is_loss = line.call is not None and len(line.operands) == 2 and not line.function.endswith("_")
    if is_loss and len(line.pairs) == 0:
        target = line.operand(1)
        values: dict[str, object] = {"x": target, **found.groupdict()}
        return OperationAnswer("op-integer-target", values, (target, "target"), (("op-cast", f"{target}.float()"),))
    return _told("op-result-type", ("op-cast", "{x} = {x}.float()"))(found, line)


def _checkpoint(found: re.Match[str], line: CallingLine) -> OperationAnswer:
    """A checkpoint whose names or shapes are not the model's."""
    text = found[0]
    missing = _keys(text, "Missing key(s) in state_dict: ")
    unexpected = _keys(text, "Unexpected key(s) in state_dict: ")
    sizes = re.search(
        r"size mismatch for (\S{1,300}): copying a param with shape torch\.Size\((\[[^\]]{0,200}\])\) from checkpoint, "
        r"the shape in current model is torch\.Size\((\[[^\]]{0,200}\])\)",
        text,
    )
    state = line.operands[-1] if line.operands else "state_dict"
    if sizes is not None:
        fixes: tuple[tuple[str, str], ...] = (("op-same-config", f"print({state}[{sizes[1]!r}].shape)"),)
        values: dict[str, object] = {"name": sizes[1], "have": sizes[2], "want": sizes[3]}
        return OperationAnswer("op-state-size", values, (state, sizes[1], "config"), fixes)
    values = {
        "missing": ", ".join(missing[:MAX_KEYS]), "more": len(missing), "unexpected": ", ".join(unexpected[:MAX_KEYS]),
        "extra": len(unexpected),
    }  # fmt: skip
    key = "op-state-names" if missing and unexpected else "op-state-missing" if missing else "op-state-unexpected"
    return OperationAnswer(key, values, (state, "strict"), tuple(_renamed(missing, unexpected, state)))


def _keys(text: str, mark: str) -> list[str]:
    """The quoted names behind a mark, up to the next part of the message."""
    rest = text.partition(mark)[2]
    for end in ("Unexpected key(s)", "size mismatch for"):
        rest = rest.partition(end)[0]
    return re.findall(r'"([^"]{1,300})"', rest)


def _renamed(missing: list[str], unexpected: list[str], state: str) -> Iterator[tuple[str, str]]:
    """A prefix that only one side has: ``module.``, ``model.``, ``base_model.model.``."""
    for want in missing:
        for have in unexpected:
            if have.endswith(f".{want}"):
                prefix = have[: -len(want)]
                yield "op-prefix", f"{{k.removeprefix({prefix!r}): v for k, v in {state}.items()}}"
                return
            if want.endswith(f".{have}"):
                prefix = want[: -len(have)]
                yield "op-prefix", f"{{{prefix!r} + k: v for k, v in {state}.items()}}"
                return
    yield "op-look", f"print(list({state})[:5])"


def _joined(found: re.Match[str], line: CallingLine) -> OperationAnswer:
    """Tensors that are joined and differ in their number of dimensions. Two and one: a column, or a row, was meant."""
    have, got = int(found["a"]), int(found["b"])
    call = line.of("cat", "concat", "concatenate").call
    given = call.args[0] if call is not None and call.args else None
    parts = [ast.unparse(one) for one in given.elts] if isinstance(given, (ast.List, ast.Tuple)) else []
    written = (
        [ast.unparse(one.value) for one in call.keywords if one.arg in ("dim", "axis")] if call is not None else []
    )
    written += [ast.unparse(one) for one in call.args[1:2]] if call is not None else []
    at = "-1" if written[:1] in (["1"], ["-1"]) else "0"
    less = parts[1 if got < have else 0] if len(parts) == 2 and abs(have - got) == 1 else ""
    values: dict[str, object] = {"x": line.operand(0) or "the tensor", "y": line.operand(1) or "the tensor"}
    names = (less, line.operand(0)) if less else (line.operand(0), line.operand(1))
    return OperationAnswer(
        "op-cat-dims", values | found.groupdict(), names, (("op-unsqueeze", f"{less}.unsqueeze({at})"),)
    )


_SIZES = r"\[[^\]]{0,200}\]"

RULES: tuple[tuple[str, re.Pattern[str], Rule], ...] = (
    ("Error(s) in loading state_dict for", lazy.compile(r"Error\(s\) in loading state_dict for .*"), _checkpoint),
    ("Expected size for first two dimensions", lazy.compile(rf"Expected size for first two dimensions of batch2 tensor to be: (?P<want>{_SIZES}) but got: (?P<have>{_SIZES})"),
     _told("op-bmm", ("op-transpose", "{y}.transpose(1, 2)"), ("op-look", "print({x}.shape, {y}.shape)"))),
    ("split_with_sizes expects split_sizes to", lazy.compile(rf"split_with_sizes expects split_sizes to sum exactly to (?P<total>\d+) .{{0,200}}?dimension (?P<dim>-?\d+)\), but got split_sizes=(?P<sizes>{_SIZES})"),
     _told("op-split", ("op-look", "print({x}.shape)"), names=("y", "split_sizes", "x"))),
    ("a leaf Variable that requires grad is", lazy.compile(r"a leaf Variable that requires grad is being used in an in-place operation"),
     _told("op-leaf", ("op-no-grad", "with torch.no_grad(): ..."), ("op-out-of-place", "{x} = {x} + ..."))),
    ("Trying to backward through the graph a", lazy.compile(r"Trying to backward through the graph a second time"),
     _told("op-twice", ("op-detach", ".detach()"), ("op-retain", "retain_graph=True"), names=("x", "retain_graph"))),
    ("modified by an inplace operation:", lazy.compile(r"modified by an inplace operation: \[torch\.(?P<kind>\w+) (?P<shape>\[[^\]]{0,200}\])\](?:, which is output \d+ of (?P<op>\w+))?"),
     _told("op-inplace", ("op-out-of-place", "y = y + 1"), ("op-anomaly", "torch.autograd.set_detect_anomaly(True)"))),
    ("grad can be implicitly created only for", lazy.compile(r"grad can be implicitly created only for scalar outputs"),
     _told("op-scalar-loss", ("op-mean-first", "{x}.mean().backward()"), names=("x", "reduction"))),
    ("Can't call numpy() on Tensor that", lazy.compile(r"Can't call numpy\(\) on Tensor that requires grad"), _told("op-numpy", ("op-cast", "{x}.detach().cpu().numpy()"))),
    ("can't be cast to the desired output type", lazy.compile(r"result type (?P<a>\w+) can't be cast to the desired output type (?P<b>\w+)"),
     _result_type),
    ("weight tensor should be defined either", lazy.compile(r"weight tensor should be defined either for all (?P<want>\d+) classes or no classes but got weight tensor of shape: \[(?P<got>\d+)\]"),
     _told("op-class-weights", ("op-weights", "weight=torch.ones({want})"), names=("weight", "x"))),
    ("Tensors must have same number of", lazy.compile(r"Tensors must have same number of dimensions: got (?P<a>\d+) and (?P<b>\d+)"),
     _joined),
    ("doesn't match the broadcast shape", lazy.compile(rf"output with shape (?P<a>{_SIZES}) doesn't match the broadcast shape (?P<b>{_SIZES})"),
     _told("op-inplace-shape", ("op-out-of-place", "{x} = {x} + ..."))),
    ("'indices' to have one of the following", lazy.compile(r"Expected tensor for argument #\d+ 'indices' to have one of the following scalar types: Long, Int; but got torch\.(?P<kind>\w+)"),
     _told("op-indices", ("op-cast", "{x}.long()"), names=("x", "input"))),
    (", expected input with shape", lazy.compile(rf"Given normalized_shape=(?P<want>{_SIZES}), expected input with shape (?P<pattern>{_SIZES}), but got input of size ?(?P<have>{_SIZES})"),
     _told("op-norm", ("op-look", "print({x}.shape)"), names=("x", "normalized_shape"))),
    ("Size does not match at dimension", lazy.compile(rf"Size does not match at dimension (?P<dim>\d+) expected index (?P<index>{_SIZES}) to be (?:no larger|smaller) than self (?P<have>{_SIZES}) apart from dimension (?P<apart>\d+)"),
     _told("op-gather", ("op-look", "print({x}.shape)"), names=("x", "index", "dim"))),
    ("Calculated padded input size per", lazy.compile(r"Calculated padded input size per channel: (?P<have>\([^)]{0,100}\))\. Kernel size: (?P<kernel>\([^)]{0,100}\))"),
     _told("op-kernel", ("op-padding", "padding=1"), ("op-smaller", "kernel_size=1"), names=("kernel_size", "padding", "x"))),
    (". Calculated output size:", lazy.compile(r"Given input size: (?P<have>\([^)]{0,100}\))\. Calculated output size: (?P<out>\([^)]{0,100}\))\. Output size is too small"),
     _told("op-pool", ("op-smaller", "kernel_size=2"), names=("kernel_size", "stride", "x"))),
    ("inconsistent tensor size, expected", lazy.compile(r"inconsistent tensor size, expected tensor \[(?P<a>\d+)\] and src \[(?P<b>\d+)\]"),
     _told("op-dot", ("op-look", "print({x}.shape, {y}.shape)"))),
    ("size mismatch, got input (", lazy.compile(r"size mismatch, got input \((?P<out>\d+)\), mat \((?P<mat>\d+x\d+)\), vec \((?P<vec>\d+)\)"),
     _told("op-mv", ("op-look", "print({x}.shape, {y}.shape)"))),
    ("number of dimensions in the tensor", lazy.compile(r"number of dimensions in the tensor input does not match .{0,200}?input\.dim\(\) = (?P<have>\d+) is not equal to len\(dims\) = (?P<given>\d+)"),
     _told("op-permute", ("op-look", "print({x}.shape)"), names=("x", "dims"))),
    ("batch must contain tensors, numpy", lazy.compile(r"batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class '(?P<kind>[\w.]+)'>"),
     _told("op-collate", ("op-collate-own", "collate_fn=..."), names=("dataset", "collate_fn"))),
    ("each element in list of batch should be", lazy.compile(r"each element in list of batch should be of equal size"),
     _told("op-collate-sizes", ("op-collate-own", "collate_fn=..."), names=("dataset", "collate_fn"))),
    ("Expected all tensors to be on the same", lazy.compile(r"Expected all tensors to be on the same device, but (?:found at least two devices, (?P<a>[\w:]{1,40}) and (?P<b>[\w:]{1,40})|got .{0,200}? is on (?P<c>[\w:]{1,40}))"),
     _told("op-device", ("op-cast", "{y}.to({x}.device)"), names=("x", "y", "device"))),
    ("is not on the expected device", lazy.compile(r"Tensor on device (?P<a>[\w:]{1,40}) is not on the expected device (?P<b>[\w:]{1,40})!"),
     _told("op-devices", ("op-cast", "{y}.to({x}.device)"), names=("x", "y", "device"))),
    ("() cannot be applied to a 0-dim tensor", lazy.compile(r"(?P<f>\w{1,40})\(\) cannot be applied to a 0-dim tensor"), _told("op-narrow", ("op-unsqueeze", ".unsqueeze(0)"))),
    ("cannot resize variables that require", lazy.compile(r"cannot resize variables that require grad"), _told("op-resize", ("op-cast", "{x}.detach()"))),
)  # fmt: skip
