"""What torch says of lists in which it wants tensors, and of what stands in the brackets behind a tensor."""

from __future__ import annotations

import ast
import re

from troubleshooter.explaining.calling import CallingLine, OperationAnswer, Rule

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
    fixes = (("op-look", f"print({holder}.shape)"),) if holder else ()
    return OperationAnswer(
        "op-index-many-of" if holder else "op-index-many", {"x": holder, "n": dims}, (holder,), fixes
    )


def _no_dims(m: re.Match[str], line: CallingLine) -> OperationAnswer:
    look = ", ".join(f"{one}.shape" for one in line.operands[:2] if one.isidentifier())
    return OperationAnswer(
        "op-no-dims", {"d": m[1]}, line.operands[:2], (("op-look", f"print({look})"),) if look else ()
    )


RULES: tuple[tuple[str, str, Rule], ...] = (
    ("expected Tensor as element", r"expected Tensor as element (\d+) in argument \d+, but got ([\w.]+)", _elements),
    ("too many indices for", r"too many indices for (?:tensor of dimension (\d+)|array: array is (\d+)-dimensional)", _too_many),
    ("but tensor has no dimensions", r"[Dd]imension specified as (-?\d+) but tensor has no dimensions", _no_dims),
)  # fmt: skip
