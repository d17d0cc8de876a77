"""What NumPy and torch say of arrays, lists of tensors and what stands in brackets: shapes, dimensions, indices.

The rules read the numbers of the message and name the operands of the line that called, as `operation_rules` does.
"""

from __future__ import annotations

import ast
import re

from kb import lazy
from troubleshooter.explaining.python.calling import CallingLine, OperationAnswer, Rule
from troubleshooter.explaining.tensor.operation_rules import view_sizes

_SHAPE = r"\(\d{0,18}(?:, ?\d{1,18}){0,7},?\)"


def _sides(line: CallingLine) -> tuple[str, str]:
    """Both sides of the line's only operator, else the first two operands."""
    if len(line.pairs) == 1:
        return line.pairs[0]
    return ("", "") if line.pairs else (line.operand(0), line.operand(1))


def _shapes(left: str, right: str) -> tuple[tuple[str, str], ...]:
    return (("op-look", f"print({left}.shape, {right}.shape)"),) if left.isidentifier() and right.isidentifier() else ()


def _broadcast(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    left, right = _sides(line)
    return OperationAnswer("op-shapes", {"a": m[1], "b": m[2]}, (left, right), _shapes(left, right))


def _aligned(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    left, right = _sides(line)
    return OperationAnswer("op-aligned", {"a": m[1], "b": m[2]}, (left, right), _shapes(left, right))


def _inner(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    left, right = _sides(line)
    return OperationAnswer("op-inner", {"a": m[2], "b": m[1]}, (left, right), _shapes(left, right))


def _reshape(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    sizes = [int(part) for part in m[2].split(",") if part.strip()]
    fixes = view_sizes(sizes, int(m[1]), line.operand(0) or "x", "reshape")
    return OperationAnswer("op-view", {"sizes": m[2].strip(" ,"), "total": m[1]}, (line.operand(0),), fixes)


def _axis(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    got, axis, size = m.groups()
    items = [one for one in line.subscripts if not isinstance(one.slice, ast.Constant) or str(one.slice.value) == got]
    holder = ast.unparse(items[0].value) if len(items) == 1 else ""
    fixes = (("op-look", f"print({holder}.shape)"),) if holder else ()
    values: dict[str, object] = {"got": got, "dim": axis, "size": size, "last": int(size) - 1}
    return OperationAnswer("op-index" if int(size) else "op-index-none", values, (holder,), fixes)


def _no_axis(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    got, count = m[1], int(m[2])
    which = line.operand(0)
    fixes = (("op-look", f"print({which}.shape)"),) if which else ()
    if not count:
        return OperationAnswer("op-no-dims", {"d": got}, (which,), fixes)
    return OperationAnswer("op-dim-range", {"low": -count, "high": count - 1, "got": got}, (which, "axis"), fixes)


def _no_index(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    named = [one for one in line.subscripts if isinstance(one.slice, ast.Constant) and isinstance(one.slice.value, str)]
    if len(named) == 1:
        holder = ast.unparse(named[0].value)
        return OperationAnswer("op-array-name", {"x": holder, "k": ast.unparse(named[0].slice)}, (holder,))
    return OperationAnswer("op-array-index", {}, ())


def _channels(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    return OperationAnswer("op-norm-channels", {"a": m[1], "b": m[2]}, (line.operand(0), "num_features"))


def _dimensions(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    given, want, got = line.operand(0), m[1], m[2]
    less = int(got) + 1 == int(re.findall(r"\d", want)[-1])
    fixes = (("op-unsqueeze", f"{given}.unsqueeze(0)"),) if given and less else ()
    return OperationAnswer("op-dimensions", {"want": want, "got": got}, (given,), fixes)


def _input_size(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    return OperationAnswer("op-input-size", {"want": m[1], "got": m[2]}, (line.operand(0), "input_size"))


def _einsum(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    line = line.of("einsum")
    which = line.operand(int(m[3]) + 1)
    values: dict[str, object] = {"i": m[1], "a": m[2], "b": m[4], "n": m[3]}
    fixes = [("op-look", f"print({which}.shape)")] if which else []
    before, letters, after = _letters(line, int(m[3]))
    if len(letters) == 2:
        fixes.append(("op-einsum-order", f'"{before}{letters[::-1]}{after}"'))
    return OperationAnswer("op-einsum", values, (which,), tuple(fixes))


def _einsum_dimensions(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    line = line.of("einsum")
    which = line.operand(int(m[3]) + 1)
    values: dict[str, object] = {"a": m[1], "b": m[2], "n": m[3]}
    fixes = [("op-look", f"print({which}.shape)")] if which else []
    if which and int(m[2]) == int(m[1]) + 1:
        fixes.append(("op-einsum-squeeze", f"{which}.squeeze(-1)"))
    elif which and int(m[1]) == int(m[2]) + 1:
        fixes.append(("op-unsqueeze", f"{which}.unsqueeze(0)"))
    return OperationAnswer("op-einsum-dimensions", values, (which,), tuple(fixes))


def _letters(line: CallingLine, number: int) -> tuple[str, str, str]:
    """The letters that an equation such as ``"bth,kh->btk"`` has for one operand, with what stands before and behind them."""
    equation = line.call.args[0] if line.call is not None and line.call.args else None
    text = equation.value if isinstance(equation, ast.Constant) and isinstance(equation.value, str) else ""
    parts = text.partition("->")[0].split(",")
    if number >= len(parts):
        return "", "", ""
    begin = sum(len(one) + 1 for one in parts[:number])
    letters = parts[number].strip()
    at = text.index(letters, begin)
    return text[:at], letters, text[at + len(letters) :]


def _whole_sizes(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    kind = m["one"] or m["found"] or m["got"]
    place = int(m["at"]) if m["at"] else int(m["pos"]) - 1 if m["pos"] else 0
    line = line.of(m["f"])
    if line.call is None or line.function.rpartition(".")[2] != m["f"]:  # a layer made it, of what the line gave it
        return OperationAnswer("op-whole-sizes", {"f": m["f"], "t": kind})
    has_object = len(line.operands) > len(line.call.args) + len(line.call.keywords)  # x.view(a, b)
    which = line.operand(place + has_object)
    fixes = (("op-cast", f"int({which})"),) if which and kind == "float" else ()
    return OperationAnswer("op-whole-sizes", {"f": m["f"], "t": kind}, (which,), fixes)


_ARRAYS = frozenset(
    ("list", "tuple", "int", "float", "bool", "numpy.ndarray", "numpy.float64", "numpy.int64", "ndarray")
)
"""Types of which torch makes tensors."""


def _elements(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    """A list in which torch wants tensors, and finds something else."""
    place, kind = m.groups()
    rows = line.operand(0)
    fixes: tuple[tuple[str, str], ...] = ()
    if kind == "Image":
        fixes = (("op-cast", "torchvision.transforms.functional.to_tensor(x)"),)
    elif kind in _ARRAYS:
        fixes = (("op-cast", "torch.as_tensor(x)"),)
    return OperationAnswer(
        "op-elements-of" if rows else "op-elements", {"x": rows, "n": place, "t": kind}, (rows,), fixes
    )


def _index(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    got, dim, size = m.groups()
    fixes: tuple[tuple[str, str], ...] = (("op-look", f"print({line.operand(0) or 'x'}.shape)"),)
    if got == size and (counted := _counted(int(dim), line)):
        fixes = (("op-last-index", counted), *fixes)
    return OperationAnswer(
        "op-index",
        {"got": got, "dim": dim, "size": size, "last": int(size) - 1},
        (line.operand(1), line.operand(0)),
        fixes,
    )


def _counted(dimension: int, line: CallingLine) -> str:
    """The brackets with one less for a number that counts elements, as a length does; "" where another index can be at fault."""
    if len(line.subscripts) != 1:
        return ""
    item = line.subscripts[0]
    several = list(item.slice.elts) if isinstance(item.slice, ast.Tuple) else [item.slice]
    at = several[dimension] if dimension < len(several) else None
    if (
        not isinstance(at, ast.Name)
        or _COUNTS.search(at.id) is None
        or any(isinstance(one, ast.Constant) for one in several)
    ):
        return ""
    several[dimension] = ast.BinOp(at, ast.Sub(), ast.Constant(1))
    return f"{ast.unparse(item.value)}[{', '.join(map(ast.unparse, several))}]"


_COUNTS = lazy.compile(r"(?i)len|count|size|num|total|^n$|_n$|^n_")
"""Names of what counts elements. The last element of n has the number n - 1."""


def _too_many(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    """More indices in the brackets than the tensor has dimensions: a name counts as many."""
    dims = m[1] or m[2]
    by_name = [
        one for one in line.subscripts if isinstance(one.slice, ast.Constant) and isinstance(one.slice.value, str)
    ]
    if len(by_name) == 1:
        holder = ast.unparse(by_name[0].value)
        values: dict[str, object] = {"x": holder, "k": ast.unparse(by_name[0].slice), "n": dims}
        return OperationAnswer(
            "op-index-name", values, (holder,), (("op-look", f"print(type({holder}), {holder}.shape)"),)
        )
    deep = [one for one in line.subscripts if isinstance(one.slice, ast.Tuple) and len(one.slice.elts) > int(dims)]
    holder = ast.unparse(deep[0].value) if len(deep) == 1 else ""
    by_mask = [one for one in line.subscripts if isinstance(one.slice, ast.Name)]
    if not deep and len(by_mask) == 1:  # a mask stands for as many indices as it has dimensions
        holder, mask = ast.unparse(by_mask[0].value), ast.unparse(by_mask[0].slice)
        told: dict[str, object] = {"x": holder, "k": mask, "n": dims}
        return OperationAnswer(
            "op-index-mask", told, (holder, mask), (("op-look", f"print({holder}.shape, {mask}.shape)"),)
        )
    fixes = (("op-look", f"print({holder}.shape)"),) if holder else ()
    return OperationAnswer(
        "op-index-many-of" if holder else "op-index-many", {"x": holder, "n": dims}, (holder,), fixes
    )


def _index_shapes(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    """Arrays of indices that are not equally long."""
    inside = [*line.subscripts, *(one for call in line.calls for one in call.args)]
    several = {
        ast.unparse(node): node
        for part in inside
        for node in [part.slice if isinstance(part, ast.Subscript) else part]
        if isinstance(node, ast.Tuple) and len(node.elts) > 1
    }
    names = tuple(ast.unparse(one) for one in next(iter(several.values())).elts) if len(several) == 1 else ()
    fixes = (("op-look", f"print({', '.join(f'{one}.shape' for one in names)})"),) if names else ()
    return OperationAnswer("op-index-shapes", {"a": m[1], "b": m[2]}, names, fixes)


def _concatenated(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    """Arrays that are joined along one dimension and differ in another."""
    line = line.of("concatenate", "concat", "hstack", "vstack", "dstack", "stack", "append")
    rows = line.operand(0)
    fixes = (("op-look", f"print([x.shape for x in {rows}])"),) if rows else ()
    values: dict[str, object] = {"dim": m[1], "i": m[2], "a": m[3], "j": m[4], "b": m[5]}
    return OperationAnswer("op-concatenate", values, (rows,), fixes)


def _no_dims(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    look = ", ".join(f"{one}.shape" for one in line.operands[:2] if one.isidentifier())
    return OperationAnswer(
        "op-no-dims", {"d": m[1]}, line.operands[:2], (("op-look", f"print({look})"),) if look else ()
    )


def _array_stack(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    rows = line.operand(0) if line.function in ("stack", "vstack", "hstack", "dstack", "array") else ""
    look = (("op-look", f"print({{x.shape for x in {rows}}})"),) if rows.isidentifier() else ()
    return OperationAnswer("op-array-stack", {"x": rows or "arrays"}, (rows,), look)


def _same_size(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    """Two arguments of one call that the message names; the one without a keyword is the first one that is passed."""
    given = {one.arg: ast.unparse(one.value) for one in line.call.keywords} if line.call is not None else {}
    plain = [ast.unparse(one) for one in line.call.args] if line.call is not None else []
    names = [given.get(name, "") for name in (m["a"], m["b"])]
    if names.count("") == 1 and plain:
        names[names.index("")] = plain[0]
    left, right = names if all(names) else ("", "")
    look = (("op-look", f"print(len({left}), len({right}))"),) if left.isidentifier() and right.isidentifier() else ()
    told = {"a": m["a"], "b": m["b"]}
    return OperationAnswer(
        "op-same-size",
        dict(told),
        (right, left, m["b"], m["a"]) if left else (m["b"], m["a"]),
        (("op-equal-lengths", f"len({left}) == len({right})"), *look) if left else (),
    )


def _texts(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    """A list or an array of texts, of which no tensor can be made; in a comprehension ``f["label"]`` names their column."""
    made = line.of("tensor", "as_tensor", "from_numpy", "Tensor", "LongTensor", "FloatTensor")
    rows = made.operand(0)
    node = made.call.args[0] if made.call is not None and made.call.args else None
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        items = [one.slice for one in ast.walk(node.elt) if isinstance(one, ast.Subscript)]
        keys = [one.value for one in items if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        rows = keys[0] if len(items) == len(keys) == 1 else ""
        fixes = (("op-class-numbers", f'dataset.class_encode_column("{rows}")'),) if rows else ()
    else:
        fixes = (("op-class-numbers", f"[sorted(set({rows})).index(x) for x in {rows}]"),) if rows else ()
    return OperationAnswer("op-texts-of" if rows else "op-texts", {"x": rows}, (rows,), fixes)


NUMPY: tuple[tuple[str, re.Pattern[str], Rule], ...] = (
    ("could not be broadcast together with", lazy.compile(rf"operands could not be broadcast together with shapes ({_SHAPE}) ({_SHAPE})"), _broadcast),
    (" not aligned: ", lazy.compile(rf"shapes ({_SHAPE}) and ({_SHAPE}) not aligned: "), _aligned),
    ("has a mismatch in its core dimension", lazy.compile(r"has a mismatch in its core dimension \d+, .{0,200}?\(size (\d+) is different from (\d+)\)"), _inner),
    ("cannot reshape array of size", lazy.compile(r"cannot reshape array of size (\d+) into shape \(([-\d, ]{1,60})\)"), _reshape),
    ("is out of bounds for axis", lazy.compile(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)"), _axis),
    ("is out of bounds for array of dim", lazy.compile(r"^axis (-?\d+) is out of bounds for array of dimension (\d+)"), _no_axis),
    ("all input arrays must have the same shape", lazy.compile(r"^all input arrays must have the same shape$"), _array_stack),
    (" must have ", lazy.compile(r"^['`](?P<a>\w{1,40})['`] and ['`](?P<b>\w{1,40})['`] must have (?:the )?same (?:size|length|number of elements)$"), _same_size),
    ("too many dimensions 'str'", lazy.compile(r"^too many dimensions 'str'$"), _texts),
    ("can't convert np.ndarray of type numpy.str_", lazy.compile(r"^can't convert np\.ndarray of type numpy\.str_\."), _texts),
    ("only integers, slices (`:`), ellipsis", lazy.compile(r"only integers, slices \(`:`\), ellipsis"), _no_index),
)  # fmt: skip
"""In NumPy's own words, whichever library called it."""

RULES: tuple[tuple[str, re.Pattern[str], Rule], ...] = (
    ("expected Tensor as element", lazy.compile(r"expected Tensor as element (\d+) in argument \d+, but got ([\w.]+)"), _elements),
    ("is out of bounds for dimension", lazy.compile(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)"), _index),
    ("too many indices for", lazy.compile(r"too many indices for (?:tensor of dimension (\d+)|array: array is (\d+)-dimensional)"), _too_many),
    ("could not be broadcast together with shapes", lazy.compile(r"shape mismatch: indexing (?:arrays|tensors) could not be broadcast together with shapes (\S{1,60}),? (\S{1,60})"), _index_shapes),
    ("must match exactly, but along dimension", lazy.compile(r"must match exactly, but along dimension (\d{1,3}), the array at index (\d{1,9}) has size (\d{1,12}) and the array at index (\d{1,9}) has size (\d{1,12})"), _concatenated),
    ("but tensor has no dimensions", lazy.compile(r"[Dd]imension specified as (-?\d+) but tensor has no dimensions"), _no_dims),
    ("running_mean should contain", lazy.compile(r"running_mean should contain (\d+) elements not (\d+)"), _channels),
    (" input (got ", lazy.compile(r"expected (\dD(?:(?:, | or )\dD)*) input \(got (\d)D input\)"), _dimensions),
    ("must be equal to input_size", lazy.compile(r"input\.size\(-1\) must be equal to input_size\. Expected (\d+), got (\d+)"), _input_size),
    ("number of subscripts in the equation", lazy.compile(r"einsum\(\): the number of subscripts in the equation \((\d{1,9})\) (?:does not match|is more than|is less than) the number of dimensions \((\d{1,9})\) for operand (\d{1,9})"), _einsum_dimensions),
    ("does not broadcast with previously", lazy.compile(r"einsum\(\): subscript (\w) has size (\d+) for operand (\d+) which does not broadcast with previously seen size (\d+)"), _einsum),
    ("must be tuple of ints,", lazy.compile(r"(?<!\w)(?P<f>\w{1,80})\(\): argument '\w{1,80}' (?:\(position \d+\) must be tuple of ints, (?:not (?P<one>[\w.]+)|but found element of type (?P<found>[\w.]+) at pos (?P<at>\d+))|failed to unpack the object at pos (?P<pos>\d+) with error \"type must be tuple of ints, ?but got (?P<got>[\w.]+))"), _whole_sizes),
)  # fmt: skip
