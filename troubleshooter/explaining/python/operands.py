"""Which operand of an operator, an unpacking or a function Python's message is about: what the shown line rules out is left out.

What comes out of an arithmetic operator is no None and no text, and a written number or text has its own type. So of
several operators of one line most cannot have raised the message.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.python import everyday, joined, ties
from troubleshooter.explaining.python.calling import LineAnswer, each, text

_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@", ast.Pow: "**",
    ast.BitOr: "|", ast.BitAnd: "&", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.Lt: "<", ast.Gt: ">", ast.LtE: "<=", ast.GtE: ">=",
}  # fmt: skip
_NOT_COMPUTED = frozenset(
    ("NoneType", "bool", "dict", "method", "function", "builtin_function_or_method", "type", "module")
)
"""Types that no arithmetic operator of Python's own numbers, texts and lists gives."""
_DIVISIONS = (ast.Div, ast.FloorDiv, ast.Mod)


def operand(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """An operator between two types that do not know it."""
    sign = m[1].split()[0].removesuffix("=") if m[1] not in ("<=", ">=") else m[1]
    kinds = (m[2], m[3])
    pairs = [
        (left, right)
        for found, left, right in _operators(nodes)
        if found == sign and may_be(left, kinds[0]) and may_be(right, kinds[1])
    ]
    if not pairs:
        return ties.without_order(m, nodes)
    sides = [(text(left), text(right)) for left, right in pairs]
    if len(dict.fromkeys(sides)) > 1:
        names = list(dict.fromkeys(side for pair in sides for side in pair))
        values = {"x": each([f"{left} {sign} {right}" for left, right in sides]), "a": m[2], "b": m[3], "op": m[1]}
        return LineAnswer("own-operand-several", values, tuple(names))
    first = _first_time(kinds, sides[0], nodes)
    fixes = [*first, *everyday.of_sides(kinds, pairs[0]), *joined.fixes(sign, kinds, pairs[0])]
    values = {"x": sides[0][0], "y": sides[0][1], "a": m[2], "b": m[3], "op": m[1]}
    return LineAnswer("own-operand", values, sides[0], tuple(fixes))


def _operators(nodes: list[ast.AST]) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    for node in nodes:
        if isinstance(node, ast.BinOp):
            yield _SIGNS[type(node.op)], node.left, node.right
        elif isinstance(node, ast.AugAssign):
            yield _SIGNS[type(node.op)], node.target, node.value
        elif isinstance(node, ast.Compare):
            left = node.left
            for op, right in zip(node.ops, node.comparators, strict=True):
                yield _SIGNS.get(type(op), ""), left, right
                left = right


def may_be(node: ast.expr, kind: str) -> bool:
    """Whether a part of a line may have a type, as far as the line shows it."""
    if isinstance(node, ast.Constant):
        return type(node.value).__name__ == kind
    if isinstance(node, ast.JoinedStr):
        return kind == "str"
    if isinstance(node, ast.BinOp):
        return kind not in _NOT_COMPUTED
    if isinstance(node, (ast.List, ast.ListComp)):
        return kind == "list"
    if isinstance(node, (ast.Dict, ast.DictComp)):
        return kind == "dict"
    if isinstance(node, ast.Tuple):
        return kind == "tuple"
    return True


def bytes_and_text(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """Bytes and something else joined by ``+``: the first of them that Python worked out."""
    sums = [node for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)]
    sums = [node for node in sums if may_be(node.left, "bytes") and may_be(node.right, m[1])]
    for node in reversed(sums):  # the innermost one is worked out first
        left, right = text(node.left), text(node.right)
        if len(sums) > 1 and not _is_bytes(node.left):
            continue
        written = isinstance(node.right, ast.Constant) and isinstance(node.right.value, str)
        fixes: tuple[tuple[str, str], ...] = ()
        if m[1] == "str":
            fixes = (("own-convert", f"b{right}" if written and right.isascii() else f"{right}.encode()"),)
        names = (left,) if written else (right, left)
        return LineAnswer("own-concatenate", {"x": left, "y": right, "t": m[1]}, names, fixes)
    return None


def _is_bytes(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("encode", "tobytes", "to_bytes")
    return isinstance(node, ast.Constant) and isinstance(node.value, bytes)


def zero(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """What was divided by."""
    divisors = [
        text(node.right)
        for node in nodes
        if isinstance(node, ast.BinOp) and isinstance(node.op, _DIVISIONS) and not _is_number(node.right)
    ]
    divisors += [
        text(node.value)
        for node in nodes
        if isinstance(node, ast.AugAssign) and isinstance(node.op, _DIVISIONS) and not _is_number(node.value)
    ]
    if not divisors:
        return None
    fixes = (("own-guard", f"max(1, {divisors[0]})"),)
    return LineAnswer("own-zero", {"x": each(divisors)}, tuple(divisors), fixes)


def _is_number(node: ast.expr) -> bool:
    """Whether a divisor is a written number, which is none that anybody divides by if it is 0."""
    return isinstance(node, ast.Constant) and bool(node.value)


def _first_time(kinds: tuple[str, str], sides: tuple[str, str], nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """A "best so far" that is None before the first time: the test is to hold then."""
    best = [side for kind, side in zip(kinds, sides, strict=True) if kind == "NoneType" and _BEST.search(side)]
    if len(best) == 1:
        tests = [text(one) for one in nodes if isinstance(one, ast.Compare)]
        yield "own-first-time", f"{best[0]} is None or {tests[0] if tests else '...'}"


_BEST = lazy.compile(r"(?i)(?:^|[._])(?:best|lowest|highest|minimum|maximum)")


def unpack(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """Several names at once: an assignment takes the value itself apart, a loop each item of it."""
    several = [one for one in _unpackings(nodes) if m[2] in ("", str(_least(one[0])))]
    if len(several) != 1:
        return None
    target, value, item = several[0]
    names, wanted = ", ".join(map(text, target.elts)), m[2] or str(_least(target))
    many = m[1].startswith("too many")
    fixes: tuple[tuple[str, str], ...] = (("own-unpack-rest", f"{names}, *rest"),) if many else ()
    if item:
        fixes = (*everyday.counted(target, value), *fixes)
    if many and not item and (each_part := _passed_through(target, value)):
        fixes = (("own-unpack-names", f"{each_part} = {text(value)}"),)
    look = ("own-look", f"print({text(value)})")
    key = f"own-unpack-{'many' if many else 'few'}{item}"
    return LineAnswer(key, {"x": text(value), "names": names, "n": wanted}, (text(value), names), (*fixes, look))


def _passed_through(target: ast.Tuple | ast.List, value: ast.expr) -> str:
    """A name for each part, where a call gives back what it got and the line takes only the first: ``a, b = f(a, b, c)``."""
    if not isinstance(value, ast.Call) or value.keywords:
        return ""
    given, taken = [text(one) for one in value.args], [text(one) for one in target.elts]
    is_first = len(given) > len(taken) and given[: len(taken)] == taken
    return ", ".join(given) if is_first and all(one.isidentifier() for one in given) else ""


def _least(target: ast.Tuple | ast.List) -> int:
    """How many values the names take at least; a starred one takes the rest."""
    return sum(not isinstance(one, ast.Starred) for one in target.elts)


def _unpackings(nodes: list[ast.AST]) -> Iterator[tuple[ast.Tuple | ast.List, ast.expr, str]]:
    for node in nodes:
        if isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, (ast.Tuple, ast.List)):
            parts = _parts(node.iter)
            if len(parts) != len(node.target.elts):
                yield node.target, node.iter, "-item"
            for target, part in zip(node.target.elts, parts, strict=False):
                if isinstance(target, (ast.Tuple, ast.List)) and part is not None:
                    yield target, part, "-item"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
            yield node.targets[0], node.value, ""


def _parts(value: ast.expr) -> list[ast.expr | None]:
    """What each part of an item of ``enumerate(x)`` or ``zip(a, b)`` is an item of, None for a number; empty for another value,
    of which nobody knows how many parts its items have."""
    called = value.func.id if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) else ""
    given: list[ast.expr | None] = [*value.args] if isinstance(value, ast.Call) else []
    if called == "enumerate":
        return [None, *given[:1]]
    return given if called == "zip" else []


def index(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A list or a tuple that is shorter than the line expects."""
    for node in nodes:
        if (
            m[0].startswith("pop")
            and isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "pop"
        ):
            holder = text(node.func.value)
            return LineAnswer("own-empty-pop", {"x": holder}, (holder,), (("own-guard", f"if {holder}:"),))
    asked = {
        text(node.value): node.slice
        for node in nodes
        if isinstance(node, ast.Subscript)
        and not isinstance(node.slice, (ast.Slice, ast.Tuple))
        and may_be(node.slice, "int")
    }
    if len(asked) > 1:
        return LineAnswer("own-index-several", {"x": each(list(asked))}, (*asked, *map(text, asked.values())))
    for holder, number in asked.items():
        shown = text(number)
        if shown in ("0", "-1"):
            values: dict[str, object] = {"x": holder, "i": shown}
            return LineAnswer("own-empty", values, (holder,), (("own-guard", f"if {holder}:"),))
        least = shown[1:] if shown.startswith("-") and shown[1:].isdigit() else ""
        fix = f"if len({holder}) >= {least}:" if least else f"if len({holder}) > {shown}:"
        if not least and not shown.isdigit():  # leaving out what a variable asks for would hide that it counts wrongly
            look = f"print({shown}, len({holder}))"
            return LineAnswer("own-index", {"x": holder, "i": shown}, (holder, shown), (("own-look", look),))
        return LineAnswer("own-index", {"x": holder, "i": shown}, (holder,), (("own-guard", fix),))
    return None


def numbered(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A list, a tuple or a text that the line asks for a name: told if only one part of the line can have been asked."""
    kind = m["t"] or "str"
    asked = {
        text(node.value): text(node.slice)
        for node in nodes
        if isinstance(node, ast.Subscript)
        and not isinstance(node.slice, ast.Slice)
        and may_be(node.slice, kind)
        and may_be(node.value, m["s"].replace("string", "str"))
    }
    if len(asked) != 1:
        return None
    [(holder, item)] = asked.items()
    key = "own-text-item" if m["s"] == "string" else "own-numbered"
    names = (holder, item) if item.isidentifier() else (holder,)
    look = f"print({item})" if kind == "tuple" and item.isidentifier() else f"print({holder})"
    return LineAnswer(key, {"x": holder, "s": m["s"], "k": item}, names, (("own-look", look),))


def slice_bound(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """The one bound of a slice that is no written number."""
    bounds = [
        text(one)
        for node in nodes
        if isinstance(node, ast.Slice)
        for one in (node.lower, node.upper, node.step)
        if one is not None and may_be(one, "float") and not isinstance(one, (ast.Constant, ast.UnaryOp))
    ]
    if len(bounds) != 1:
        return None
    return LineAnswer("own-slice", {"x": bounds[0]}, (bounds[0],), (("own-convert", f"int({bounds[0]})"),))
