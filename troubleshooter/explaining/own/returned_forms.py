"""In which form a function of the user's own has to return what it returns now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction, functions_of


def as_overridden(maker: OwnFunction, given: ast.expr, trace: Trace) -> str:
    """What the library's method of the same name returns, with the user's values: ``(a, b) if parameter else a``; "" where it has no such form.

    Some methods return more where the caller asks for it by a parameter, and a method that overrides them always does.
    """
    if maker.owner is None or not isinstance(given, ast.Tuple):
        return ""
    for both, test, one in _cases(maker, trace):
        at = [n for n, part in enumerate(both.elts) if ast.unparse(part) == ast.unparse(one)]
        if test in parameters(maker.function) and len(both.elts) == len(given.elts) and len(at) == 1:
            return f"{ast.unparse(given)} if {test} else {ast.unparse(given.elts[at[0]])}"
    return ""


def _cases(maker: OwnFunction, trace: Trace) -> Iterator[tuple[ast.Tuple, str, ast.expr]]:
    """The tuples that the library's methods of this name return in one case, the parameter that asks for them, and the other case."""
    sources = [context.source for at in range(len(trace.frames)) if (context := trace.context(at)) is not None]
    for source in dict.fromkeys(sources):
        for method in functions_of(source) if source is not maker.source else ():
            if method.name != maker.name or method.owner is None:
                continue
            for node in method.returned:
                value = node.value
                if (
                    isinstance(value, ast.IfExp)
                    and isinstance(value.test, ast.Name)
                    and isinstance(value.body, ast.Tuple)
                ):
                    yield value.body, value.test.id, value.orelse


def one_part(given: ast.expr, wanted: str) -> str:
    """The part of a returned tuple that bears the name of what the library needs; "" where none does."""
    parts = [ast.unparse(one) for one in given.elts] if isinstance(given, ast.Tuple) else []
    same = [one for one in parts if one.rpartition(".")[2] == wanted]
    return same[0] if len(same) == 1 else ""


def for_each(given: ast.expr) -> str:
    """A list of one value for each element, of what asks whether all or any of them are so; "" for another expression."""
    is_asked = isinstance(given, ast.Call) and ast.unparse(given.func) in ("all", "any")
    if not isinstance(given, ast.Call) or not is_asked or len(given.args) != 1:
        return ""
    made = given.args[0]
    if isinstance(made, (ast.GeneratorExp, ast.ListComp)):
        return ast.unparse(ast.ListComp(made.elt, made.generators))
    return ""
