"""A name in a condition that holds what is missing, written as what it is: some item of one thing is not in another."""

from __future__ import annotations

import ast

from troubleshooter.explaining.place.conditions import Atom, Formula, comparison, length
from troubleshooter.explaining.source.names import NameContext, last_value


def unfolded(what: Formula | Atom, context: NameContext) -> Formula | Atom:
    """``missing`` of ``missing = [c for c in columns if c not in features]`` as ``any(c not in features for c in columns)``."""
    if isinstance(what, Formula):
        return what._replace(parts=tuple(unfolded(part, context) for part in what.parts))
    name = _filled(what)
    if name is not None and context.function is not None:
        value = last_value(name.id, context.function, context.line) if isinstance(name, ast.Name) else name
        if value is not None and (found := _missing(value)) is not None:
            return Atom(found, holds=True)
    return what


def _filled(atom: Atom) -> ast.expr | None:
    """What a part says is not empty: ``x``, ``len(x) > 0``, ``len(x) != 0``."""
    found = comparison(atom)
    if found is None:
        return atom.expression if atom.holds else None
    is_zero = isinstance(found[2], ast.Constant) and found[2].value == 0
    return length(found[0]) if is_zero and found[1] in (ast.Gt, ast.NotEq) else None


def _missing(value: ast.expr) -> ast.expr | None:
    """What is computed as the items of one thing that another does not have, as a question about both."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and len(value.args) == 1:
        if value.func.id not in ("set", "list", "sorted", "tuple", "len"):
            return None
        value = value.args[0]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Sub) and any(map(_is_set, (value.left, value.right))):
        return _question(ast.Name("one", ast.Load()), _plain(value.left), _plain(value.right))
    if isinstance(value, (ast.ListComp, ast.SetComp, ast.GeneratorExp)) and len(value.generators) == 1:
        loop = value.generators[0]
        asked = loop.ifs[0] if len(loop.ifs) == 1 else None
        is_lack = isinstance(asked, ast.Compare) and len(asked.ops) == 1 and isinstance(asked.ops[0], ast.NotIn)
        if is_lack and ast.unparse(asked.left) == ast.unparse(loop.target):  # type: ignore[union-attr]
            return _question(loop.target, loop.iter, asked.comparators[0])  # type: ignore[union-attr]
    return None


def _is_set(node: ast.expr) -> bool:
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("set", "frozenset")
    return is_call or isinstance(node, (ast.Set, ast.SetComp))


def _plain(node: ast.expr) -> ast.expr:
    """``x`` of ``set(x)``."""
    if isinstance(node, ast.Call) and _is_set(node) and len(node.args) == 1:
        return node.args[0]
    return node


def _question(item: ast.expr, several: ast.expr, whole: ast.expr) -> ast.expr:
    each = ast.comprehension(item, several, [], 0)
    lacks = ast.Compare(item, [ast.NotIn()], [whole])
    return ast.Call(ast.Name("any", ast.Load()), [ast.GeneratorExp(lacks, [each])], [])
