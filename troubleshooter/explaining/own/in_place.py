"""None in place of a value, because a method that changes its object in place returns nothing: `rows = rows.append(row)`."""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.python import none_parts
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import class_of_value, functions_of
from troubleshooter.explaining.source.shown import called
from troubleshooter.explaining.source.statements import statement_at
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_WANTS_MAPPING = "must be a mapping"
_METHODS = frozenset(
    ("update", "append", "extend", "insert", "sort", "reverse", "clear", "add", "discard", "difference_update")
)
_FUNCTIONS = frozenset(
    ("random.shuffle", "shuffle", "np.random.shuffle", "numpy.random.shuffle", "rng.shuffle", "heapq.heapify", "random.seed", "setattr")
)  # fmt: skip
_KEEPS = ("F", "nn", "torch", "functional", "torch.nn.functional", "nn.functional")
"""Whose functions return what they change with ``inplace=True``."""
_OWN = "own"
LONG = 120


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names the call; None where the value comes from elsewhere, or may come from two places."""
    if "NoneType" not in failure.message:
        return None
    context = trace.context(len(trace.frames) - 1)
    statement = statement_at(context) if context is not None else None
    if context is None or statement is None:
        return None
    several = []
    for part in none_parts.parts(failure.message, list(ast.walk(statement))):
        if _is_round_before(part, statement):
            several.append(own_flow.FlowStep(statement.value, context))  # type: ignore[attr-defined]
            continue
        last = own_flow.way(part, context)[-1]
        if not last.each and isinstance(last.value, ast.Call) and _is_in_place(last.value):
            several.append(last)
    if len(several) != 1:
        return None
    call, where = several[0].value, several[0].context
    assert isinstance(call, ast.Call)
    kind = _kind(call, where, is_mapping=_WANTS_MAPPING in failure.message)
    if kind == _OWN:
        return None
    place = file_line(where.source.path, call.lineno)
    shown = ast.unparse(call)[:LONG]
    changed = ast.unparse(call.func.value if _is_method(call) else call.args[0])[:LONG]  # type: ignore[attr-defined]
    found.condition = say("in-place", lang, told=found.condition, x=shown, y=changed, place=place)
    found.origins = [Origin(shown, "data", "", "None", True, place=place), *found.origins]
    found.remedies = []
    before = _binding(where.source.tree, call)
    if (new := _as_value(call, kind)) is not None and before.partition(" = ")[0] != changed:
        found.remedies.append(Remedy("in-place-new", (("x", f"{before}{new}"),), f"{before}{new}", "rule"))
    if all(part.isidentifier() for part in changed.split(".")):  # else nothing has the changed object by a name
        found.remedies.append(Remedy("in-place-line", (("x", shown), ("y", changed)), shown, "rule"))
    return found


def _is_round_before(part: ast.expr, statement: ast.stmt) -> bool:
    """Whether the line itself gave None to the name in the round before: ``rows = rows.append(row)`` in a loop."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    call, name = statement.value, ast.unparse(part)
    is_same = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == name
    return is_same and _is_in_place(call) and [ast.unparse(one) for one in statement.targets] == [name]


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func) not in _FUNCTIONS


def _is_in_place(call: ast.Call) -> bool:
    if ast.unparse(call.func) in _FUNCTIONS:
        return bool(call.args)
    if not isinstance(call.func, ast.Attribute):
        return False
    holder = ast.unparse(call.func.value)
    is_asked = any(one.arg == "inplace" and ast.unparse(one.value) == "True" for one in call.keywords)
    return call.func.attr in _METHODS or (is_asked and holder not in _KEEPS)


def _binding(tree: ast.Module, call: ast.Call) -> str:
    """What stands before a call that is the whole value of a statement: ``return ``, ``x = ``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and node.value is call:
            return "return "
        if isinstance(node, ast.Assign) and node.value is call:
            return f"{ast.unparse(node.targets[0])} = "
    return ""


def _kind(call: ast.Call, context: NameContext, *, is_mapping: bool) -> str:
    """What is changed, as far as the file shows it: a class of Python's, `_OWN` for a method that the file writes, "" for anything."""
    if not isinstance(call.func, ast.Attribute):
        return "list"
    made = own_flow.way(call.func.value, context)[-1].value
    kind = class_of_value(made)
    name = made.func if isinstance(made, ast.Call) else None
    if not kind and any(one.owner is not None and one.name == call.func.attr for one in functions_of(context.source)):
        return _OWN
    if not kind and name is not None and ast.unparse(name).rpartition(".")[2][:1].isupper():
        return "object"
    is_update = call.func.attr == "update" and (is_mapping or any(isinstance(one, ast.Dict) for one in call.args))
    return kind or ("dict" if is_update or (call.func.attr == "update" and not call.args) else "")


def _as_value(call: ast.Call, kind: str) -> str | None:
    """What makes the changed object as a new value; None where nothing does it as simply."""
    given = [ast.unparse(one) for one in call.args]
    if not isinstance(call.func, ast.Attribute):
        return f"random.sample({given[0]}, len({given[0]}))" if called(call) == "shuffle" and len(given) == 1 else None
    holder, name = ast.unparse(call.func.value), call.func.attr
    rest = [one for one in call.keywords if one.arg != "inplace"]
    if len(rest) < len(call.keywords):
        return ast.unparse(ast.Call(call.func, call.args, rest))
    if name == "shuffle" and len(given) == 1:
        return {
            "random": f"random.sample({given[0]}, len({given[0]}))",
            "np.random": f"np.random.permutation({given[0]})",
            "numpy.random": f"numpy.random.permutation({given[0]})",
        }.get(holder)
    if kind == "set" and name in ("update", "add") and len(given) == 1:
        return f"{holder} | {given[0]}" if name == "update" else f"{{*{holder}, {given[0]}}}"
    if (
        kind == "dict"
        and name == "update"
        and (len(given) + bool(call.keywords)) == 1
        and all(one.arg for one in call.keywords)
    ):
        more = [f"**{one}" for one in given] + [f"'{one.arg}': {ast.unparse(one.value)}" for one in call.keywords]
        return f"{{**{holder}, {', '.join(more)}}}"
    if kind not in ("list", ""):
        return None
    if name == "sort" and not given:
        options = "".join(f", {ast.unparse(one)}" for one in call.keywords)
        return f"sorted({holder}{options})"
    if len(given) != (name != "reverse") or call.keywords:
        return None
    return {
        "append": f"[*{holder}, {''.join(given)}]",
        "extend": f"[*{holder}, *{''.join(given)}]",
        "reverse": f"{holder}[::-1]",
    }.get(name)
