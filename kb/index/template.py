"""Turn the expression of a message into templates: the literal text that it prints, and the expressions that fill the rest.

One expression can print several texts (``"a" if x else "b"``, a name that two branches bind). Each is an `TextOption`, with
the conditions under which it is the one.
"""

from __future__ import annotations

import ast
import re
import string
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from inspect import cleandoc
from typing import NamedTuple

from kb import lazy
from kb.index.place import MAX_TEXT, Guard, Hole, Piece, weight

MAX_OPTIONS = 6
"""An expression that can give more texts than this becomes one hole."""
MAX_TEMPLATE = 4_000
"""The literal text of one template has at most this many characters; the rest becomes a hole."""
_PERCENT = lazy.compile(
    r"%(?:\((?P<key>[^)]{0,60})\))?[#0\- +]{0,5}(?:[1-9]\d{0,4}|\*)?(?:\.(?:\d{1,4}|\*))?[hlL]?(?P<type>[diouxXeEfFgGcrsa%])"
)
_SAME = frozenset({"strip", "lstrip", "rstrip"})
_FLAT = frozenset({"dedent", "cleandoc"})
_MARK = "\0"


class TextOption(NamedTuple):
    """One text that an expression can give."""

    pieces: tuple[Piece, ...]
    guards: tuple[Guard, ...] = ()


Bound = Mapping[str, Sequence[TextOption]]
"""Names (also dotted) that are bound to texts."""


def source(node: ast.AST) -> str:
    """The node as source, cut to `MAX_TEXT` characters."""
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


def dotted(node: ast.AST) -> str:
    """``a.b.c`` as it is written, "" for anything but names and attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def options(node: ast.expr, bound: Bound) -> list[TextOption]:
    """The texts that an expression can give, at least one. An expression that cannot be analysed becomes one hole."""
    try:
        found = _options(node, bound)
    except RecursionError:
        found = []
    return (
        [TextOption(_tidy(item.pieces), item.guards) for item in found]
        if 0 < len(found) <= MAX_OPTIONS
        else [_hole(node)]
    )


def joined(parts: Iterable[Sequence[TextOption]]) -> list[TextOption]:
    """The concatenations of texts: every choice of the first with every choice of the second, and so on."""
    found = [TextOption(())]
    for part in parts:
        found = [TextOption((*a.pieces, *b.pieces), (*a.guards, *b.guards)) for a in found for b in part]
        if len(found) > MAX_OPTIONS:
            return []
    return found


def percent(option: TextOption, values: Sequence[ast.expr] | Mapping[str, ast.expr]) -> TextOption:
    """A ``%`` template with its holes."""
    left = iter(values.values() if isinstance(values, Mapping) else values)
    pieces: list[Piece] = []
    for piece in option.pieces:
        if isinstance(piece, Hole):
            pieces.append(piece)
            continue
        at = 0
        for match in _PERCENT.finditer(piece):
            pieces.append(piece[at : match.start()])
            at = match.end()
            if match["type"] == "%":
                pieces.append("%")
            else:
                node = values.get(match["key"] or "") if isinstance(values, Mapping) else next(left, None)
                pieces.append(Hole(source(node) if node is not None else match["key"] or ""))
        pieces.append(piece[at:])
    return TextOption(tuple(pieces), option.guards)


def _hole(node: ast.AST) -> TextOption:
    return TextOption((Hole(source(node)),))


def _tidy(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    found: list[Piece] = []
    room = MAX_TEMPLATE
    for piece in pieces:
        if isinstance(piece, Hole):
            if found and isinstance(found[-1], Hole):
                found[-1] = Hole(f"{found[-1].expression}, {piece.expression}")
            else:
                found.append(piece)
            continue
        if not piece:
            continue
        if room <= 0:
            break
        piece, room = piece[:room], room - len(piece)
        if found and isinstance(found[-1], str):
            found[-1] += piece
        else:
            found.append(piece)
        if room <= 0:
            found.append(Hole(""))
    return tuple(found)


def _options(node: ast.expr, bound: Bound) -> list[TextOption]:
    if isinstance(node, ast.Constant):
        return [TextOption((str(node.value),))] if node.value is not None else [_hole(node)]
    if isinstance(node, ast.JoinedStr):
        return joined(_inserted(part, bound) for part in node.values)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return list(bound.get(dotted(node), ())) or [_hole(node)]
    if isinstance(node, ast.IfExp):
        test, line = source(node.test), node.lineno
        one = [TextOption(o.pieces, (Guard("if", test, True, line), *o.guards)) for o in _options(node.body, bound)]
        other = [
            TextOption(o.pieces, (Guard("else", test, False, line), *o.guards)) for o in _options(node.orelse, bound)
        ]
        return one + other
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
        found = [option for value in node.values for option in _options(value, bound)]
        return [option for option in found if weight(option.pieces)] or [_hole(node)]
    if isinstance(node, ast.BinOp):
        return _operation(node, bound)
    if isinstance(node, ast.Lambda):
        return _options(node.body, bound)
    if isinstance(node, ast.Call):
        return _call(node, bound)
    return [_hole(node)]


def _inserted(node: ast.expr, bound: Bound) -> list[TextOption]:
    """A part of an f-string. A choice within a sentence becomes a hole; only choices between whole texts are kept apart."""
    if not isinstance(node, ast.FormattedValue):
        return _options(node, bound)
    if (
        isinstance(node.value, (ast.Constant, ast.Name, ast.Attribute))
        and node.conversion == -1
        and not node.format_spec
    ):
        found = _options(node.value, bound)
        if len(found) == 1:
            return found
    return [_hole(node.value)]


def _operation(node: ast.BinOp, bound: Bound) -> list[TextOption]:
    if isinstance(node.op, ast.Add):
        parts: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            parts.append(left.right)
            left = left.left
        return joined(_options(part, bound) for part in [left, *reversed(parts)])
    if isinstance(node.op, ast.Mod):
        found = _options(node.left, bound)
        if not any(weight(option.pieces) for option in found):
            return [_hole(node)]
        right = node.right
        if isinstance(right, ast.Dict):
            keyed = {
                str(k.value): v for k, v in zip(right.keys, right.values, strict=True) if isinstance(k, ast.Constant)
            }
            return [percent(option, keyed) for option in found]
        return [percent(option, right.elts if isinstance(right, ast.Tuple) else [right]) for option in found]
    if isinstance(node.op, ast.Mult) and isinstance(node.left, ast.Constant) and isinstance(node.right, ast.Constant):
        text, times = node.left.value, node.right.value
        if isinstance(text, str) and isinstance(times, int) and 0 <= times * len(text) <= MAX_TEXT:
            return [TextOption((text * times,))]
    return [_hole(node)]


def _call(node: ast.Call, bound: Bound) -> list[TextOption]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
    if name in _FLAT and len(node.args) == 1:
        return [_flat(option, name) for option in _options(node.args[0], bound)]
    if name in ("_", "gettext", "str", "colored", "style") and node.args:
        return _options(node.args[0], bound)
    if not isinstance(node.func, ast.Attribute):
        return [_hole(node)]
    receiver = node.func.value
    if name == "format":
        return _formatted(node, _options(receiver, bound))
    if name in _SAME and not node.args:
        return [_stripped(option, name) for option in _options(receiver, bound)]
    if name == "join" and isinstance(receiver, ast.Constant) and len(node.args) == 1:
        items = node.args[0]
        if isinstance(items, (ast.List, ast.Tuple)) and not any(isinstance(item, ast.Starred) for item in items.elts):
            between = [TextOption((str(receiver.value),))]
            parts = [part for item in items.elts for part in (between, _options(item, bound))]
            return joined(parts[1:])
    return [_hole(node)]


def _formatted(node: ast.Call, found: list[TextOption]) -> list[TextOption]:
    if not any(weight(option.pieces) for option in found):
        return [_hole(node)]
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
    return [_format(option, node.args, named) for option in found]


def _format(option: TextOption, args: Sequence[ast.expr], named: Mapping[str, ast.expr]) -> TextOption:
    pieces: list[Piece] = []
    count = 0
    for piece in option.pieces:
        if isinstance(piece, Hole):
            pieces.append(piece)
            continue
        try:
            parsed = list(string.Formatter().parse(piece))
        except ValueError:
            pieces.append(piece)
            continue
        for literal, field, _, _ in parsed:
            pieces.append(literal)
            if field is None:
                continue
            head, rest = re.match(r"([^.\[]*)(.*)", field, re.DOTALL).groups()  # type: ignore[union-attr]
            if not head:
                head, count = str(count), count + 1
            value = args[int(head)] if head.isdecimal() and int(head) < len(args) else named.get(head)
            pieces.append(Hole(source(value) + rest if value is not None else field))
    return TextOption(tuple(pieces), option.guards)


def _flat(option: TextOption, name: str) -> TextOption:
    holes = [piece for piece in option.pieces if isinstance(piece, Hole)]
    text = "".join(_MARK if isinstance(piece, Hole) else piece for piece in option.pieces)
    parts = (textwrap.dedent(text) if name == "dedent" else cleandoc(text)).split(_MARK)
    if len(parts) != len(holes) + 1:
        return option
    pieces: list[Piece] = [parts[0]]
    for hole, part in zip(holes, parts[1:], strict=True):
        pieces += [hole, part]
    return TextOption(tuple(pieces), option.guards)


def _stripped(option: TextOption, name: str) -> TextOption:
    pieces = list(option.pieces)
    if pieces and isinstance(pieces[0], str) and name != "rstrip":
        pieces[0] = pieces[0].lstrip()
    if pieces and isinstance(pieces[-1], str) and name != "lstrip":
        pieces[-1] = pieces[-1].rstrip()
    return TextOption(tuple(pieces), option.guards)
