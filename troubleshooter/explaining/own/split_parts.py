"""A text that is split at a mark into several names, and holds the mark more often: the number of cuts can be said."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import nodes_of
from troubleshooter.observe.model import Failure

_MANY = lazy.compile(r"^too many values to unpack \(expected (\d{1,3})")
_MODULES = ("torch", "np", "numpy", "re", "regex", "F", "functional", "random", "datasets")
"""What has a function ``split`` of its own."""
_OF_PATHS = ("/", "\\")
_LAST = ("ext", "extension", "suffix", "port", "number", "num", "step", "epoch", "layer_id", "idx", "index")
"""Names of a part that is meant to be the last one, so that the rest stands in front of it."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace:
    """The explanation that first suggests the number of cuts; the same where no text is split by the line."""
    said = _MANY.match(failure.message) if failure.type == "ValueError" else None
    if said is None:
        return found
    for nodes in nodes_of(trace.frames[-1]):
        splits = [one for node in nodes if (one := _split(node, int(said[1]), trace)) is not None]
        if len(splits) == 1:
            text = _cut(splits[0], int(said[1]) - 1)
            found.remedies = [Remedy("split-cuts", (("x", text),), text, "rule"), *found.remedies]
            break
    return found


def _split(node: ast.AST, names: int, trace: Trace) -> ast.Call | None:
    """The call of ``split`` that gives the parts which a node of the line takes by so many names."""
    target, value = None, None
    if isinstance(node, ast.Assign):
        target, value = node.targets[0], node.value
    elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.iter, (ast.GeneratorExp, ast.ListComp)):
        target, value = node.target, node.iter.elt
    if not isinstance(target, (ast.Tuple, ast.List)) or len(target.elts) != names or names < 2:
        return None
    if any(isinstance(one, ast.Starred) for one in target.elts) or not isinstance(value, ast.Call):
        return None
    func = value.func
    is_split = isinstance(func, ast.Attribute) and func.attr in ("split", "rsplit")
    if not isinstance(func, ast.Attribute) or not is_split or ast.unparse(func.value) in _MODULES:
        return None
    if isinstance(func.value, ast.Attribute) and func.value.attr == "str":
        return None  # a column of pandas, which is split row by row
    marks = [*value.args, *(one.value for one in value.keywords if one.arg == "sep")]
    is_plain = len(value.args) + len(value.keywords) == len(marks) < 2
    if not is_plain or not all(_is_text(one, trace) for one in marks):
        return None
    is_last_alone = ast.unparse(target.elts[-1]).lower() in _LAST
    return ast.Call(ast.Attribute(func.value, "rsplit" if is_last_alone else func.attr), value.args, value.keywords)


def _is_text(mark: ast.expr, trace: Trace) -> bool:
    """Whether a mark is a text: a tensor is split by a number. Of a path other parts are meant than the first ones."""
    context = trace.context(len(trace.frames) - 1)
    made = own_flow.way(mark, context)[-1].value if context is not None else mark
    return isinstance(made, ast.Constant) and isinstance(made.value, str) and made.value not in _OF_PATHS


def _cut(call: ast.Call, cuts: int) -> str:
    """The same call with the number of cuts."""
    if call.args:
        return ast.unparse(ast.Call(call.func, [*call.args, ast.Constant(cuts)], []))
    return ast.unparse(ast.Call(call.func, [], [*call.keywords, ast.keyword("maxsplit", ast.Constant(cuts))]))
