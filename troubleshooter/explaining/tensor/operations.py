"""Which operand of a torch operation does not fit: the rules of the message, with the operands of the calling line.

The calling line is the innermost line that is neither torch's nor NumPy's own: the user's, or another library's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.python.calling import CallingLine, operands_of
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.shown import code, marked, parsed
from troubleshooter.explaining.tensor import array_rules, operation_rules, requirements
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_PACKAGES = ("/torch/", "-packages/numpy/")
_NO_SIZE = lazy.compile(r"\d{19}")
"""More digits than a 64-bit size has. The rules calculate with the numbers of a message, and leave such a message alone."""


def explain(failure: Failure, lang: str) -> FoundPlace | None:
    """The explanation of an error of a tensor operation; None where no rule knows its message."""
    near = not failure.frames or any("torch" in f.path or is_own(f) for f in failure.frames[-3:])
    if not failure.frames and failure.type not in ("RuntimeError", "IndexError"):
        return None
    message = " ".join(failure.message.split())
    if _NO_SIZE.search(message):
        return None
    torch_rules = (*operation_rules.RULES, *array_rules.RULES, *requirements.RULES) if near else ()
    for part, pattern, rule in (*torch_rules, *array_rules.NUMPY):
        found = pattern.search(message) if part in message else None  # only what may fit is compiled
        if found is None:
            continue
        line = _line(failure)
        told = rule(found, line)
        # Without a line the operands have no names, and nothing can be said of them.
        names = [name for name in told.names if name] if failure.frames else []
        remedies = [Remedy(key, (("x", text),), text, "rule") for key, text in told.fixes if near and failure.frames]
        origins = [Origin(name, "data") for name in dict.fromkeys(names)]
        innermost = failure.frames[-1] if failure.frames else None
        return FoundPlace(innermost, say(told.key, lang, **told.values), origins, remedies, "rule")
    return None


def _line(failure: Failure) -> CallingLine:
    """The innermost line that is neither torch's nor NumPy's own."""
    frames = failure.frames
    if not frames:
        return CallingLine(None, None, ())
    outside = (
        f
        for f in reversed(frames)
        if not f.file.startswith("<") and not f.file.endswith(".pyx") and not any(p in f.path for p in _PACKAGES)
    )
    frame = next(outside, frames[-1])
    for text in (marked(frame), code(frame)):
        tree = parsed(text)
        if tree is None:
            continue
        nodes = list(ast.walk(tree))
        pairs = tuple(dict.fromkeys(_pairs(nodes)))
        items = tuple(node for node in nodes if isinstance(node, ast.Subscript))
        calls = tuple(node for node in nodes if isinstance(node, ast.Call))
        for node in nodes:
            if isinstance(node, ast.BinOp):
                return CallingLine(frame, None, (ast.unparse(node.left), ast.unparse(node.right)), pairs, items, calls)
            if isinstance(node, ast.Call) and not _is_print(node):
                return CallingLine(frame, node, tuple(operands_of(node)), pairs, items, calls)
            if isinstance(node, ast.Subscript):
                return CallingLine(frame, None, (ast.unparse(node.value), ast.unparse(node.slice)), pairs, items, calls)
        if pairs:
            return CallingLine(frame, None, pairs[0], pairs, items, calls)
    return CallingLine(frame, None, ())


def _pairs(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    for node in nodes:
        if isinstance(node, ast.BinOp):
            yield ast.unparse(node.left), ast.unparse(node.right)
        elif isinstance(node, ast.AugAssign):
            yield ast.unparse(node.target), ast.unparse(node.value)
        elif isinstance(node, ast.Compare) and not isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)):
            yield ast.unparse(node.left), ast.unparse(node.comparators[0])


def _is_print(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in ("print", "len", "float", "int")
