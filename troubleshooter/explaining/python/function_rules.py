"""Which argument of a function of Python's a message is about: ``random.sample``, ``math.log``, ``next``, ``dict``."""

from __future__ import annotations

import ast
import re

from troubleshooter.explaining.python.calling import LineAnswer, text


def _calls(nodes: list[ast.AST], *names: str) -> list[ast.Call]:
    """The calls of functions or methods of these names; all calls without names."""
    found = [node for node in nodes if isinstance(node, ast.Call)]
    return [one for one in found if not names or text(one.func).rpartition(".")[2] in names]


def not_in(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A value that a list does not hold."""
    calls = [one for one in _calls(nodes, "index", "remove") if isinstance(one.func, ast.Attribute) and one.args]
    if len(calls) != 1 or not isinstance(calls[0].func, ast.Attribute):
        return None
    holder, value = text(calls[0].func.value), m[1] or text(calls[0].args[0])
    return LineAnswer("fn-not-in", {"x": holder, "v": value}, (holder,), (("own-look", f"print({holder})"),))


def nothing_to_choose(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """An empty list of which one was to be taken."""
    calls = [one for one in _calls(nodes, "choice", "choices") if one.args]
    if len(calls) != 1:
        return None
    rows = text(calls[0].args[0])
    return LineAnswer("fn-empty", {"x": rows}, (rows,), (("own-guard", f"if {rows}:"),))


def sample(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """More values than a list holds."""
    calls = [one for one in _calls(nodes, "sample") if len(one.args) > 1]
    if len(calls) != 1:
        return None
    rows, count = text(calls[0].args[0]), text(calls[0].args[1])
    fixes = (("own-smaller", f"min({count}, len({rows}))"),)
    return LineAnswer("fn-sample", {"x": rows, "k": count}, (rows, count), fixes)


def pairs_wanted(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A dictionary made of what are no pairs."""
    calls = [one for one in _calls(nodes, "dict", "update") if len(one.args) == 1]
    if len(calls) != 1:
        return None
    rows = text(calls[0].args[0])
    return LineAnswer("fn-pairs", {"i": m[1], "n": m[2], "x": rows}, (rows,), (("own-look", f"print({rows})"),))


def domain(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A number for which a function of ``math`` is not defined."""
    calls = [one for one in _calls(nodes) if text(one.func).startswith("math.") and one.args]
    if len(calls) != 1:
        return None
    function, value = text(calls[0].func), text(calls[0].args[0])
    if m[0].startswith("math range"):
        fixes = [("own-look", f"print({value})")]
        if function == "math.exp":
            fixes[:0] = [("fn-mean", value), ("fn-bounded", f"math.exp(min({value}, {MAX_EXPONENT}))")]
        return LineAnswer("fn-range", {"f": function, "x": value}, (value,), tuple(fixes))
    return LineAnswer("fn-domain", {"f": function, "x": value}, (value,), (("own-look", f"print({value})"),))


MAX_EXPONENT = 700
"""``math.exp`` of more than 709.78 is larger than the largest float."""


def at_end(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """An iterator that has no more items."""
    calls = [one for one in _calls(nodes, "next") if len(one.args) == 1]
    if len(calls) != 1:
        return None
    rows = text(calls[0].args[0])
    return LineAnswer("fn-at-end", {"x": rows}, (rows,), (("own-default", f"next({rows}, None)"),))


def is_folder(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A folder where a file was expected."""
    return LineAnswer("fn-folder", {"x": m[1]}, (m[1],))


def no_length(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """The length of a tensor without dimensions."""
    calls = [one for one in _calls(nodes, "len") if len(one.args) == 1]
    if len(calls) != 1:
        return None
    value = text(calls[0].args[0])
    return LineAnswer("fn-no-length", {"x": value}, (value,), (("own-look", f"print({value})"),))


def no_step(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A loop that goes on by steps of 0."""
    calls = [one for one in _calls(nodes, "range") if len(one.args) == 3]
    if len(calls) != 1:
        return None
    step = text(calls[0].args[2])
    return LineAnswer("own-zero", {"x": f"`{step}`"}, (step,), (("fn-step", f"max(1, {step})"),))


def no_group(m: re.Match[str], nodes: list[ast.AST]) -> LineAnswer | None:
    """A group that a pattern does not have."""
    calls = [one for one in _calls(nodes, "group", "start", "end", "span") if isinstance(one.func, ast.Attribute)]
    if len(calls) != 1 or not calls[0].args or not isinstance(calls[0].func, ast.Attribute):
        return None
    found, asked = text(calls[0].func.value), text(calls[0].args[0])
    return LineAnswer(
        "fn-group", {"x": found, "k": asked}, (found,), (("own-look", f"print({found}.re, {found}.groups())"),)
    )
