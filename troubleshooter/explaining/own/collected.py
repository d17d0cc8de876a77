"""Objects of the user's own that a library collects because they lack what each has to have: ``if not hasattr(one, "save"): bad.append(one)``.

The condition of the ``raise`` is only that something was collected; the reason stands where that happens.
"""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.calls import calls_at
from troubleshooter.explaining.source.names import given_values, parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import class_of_value
from troubleshooter.explaining.source.shown import called
from troubleshooter.explaining.source.sources import Function, holding
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_PLAIN = ("str", "int", "float", "bool", "list", "dict", "tuple", "set", "NoneType")


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that names the object and what it lacks; the same where this is not seen."""
    at = len(trace.frames) - 1
    if found is None or found.remedies or at < 1 or is_own(trace.frames[at]) or at - 1 not in trace.own:
        return found
    context, tree = trace.context(at), trace.own_code.tree(at - 1)
    function = context.function if context is not None else None
    if context is None or function is None or tree is None:
        return found
    needed, several = _collected(function, context.line)
    mine = [one for call in calls_at(tree, trace.frames[at - 1].line) for one in _passed(call, function, several)]
    makers = [(one, trace.own_code.making(one, at - 1)) for one in mine]
    wrong = [(one, made) for one, made in makers if _is_method(made, needed) or class_of_value(made or one) in _PLAIN]
    wrong = wrong or (makers if len(makers) == 1 else [])
    if not needed or len(wrong) != 1:
        return found
    [(value, made)] = wrong
    name, listed = ast.unparse(value), ", ".join(f"`{one}`" for one in needed)
    owner = ast.unparse(made.func.value) if made is not None and isinstance(made.func, ast.Attribute) else ""
    found.condition = say("lacks", lang, x=name, y=listed)
    shown = ast.unparse(made) if made is not None else None
    found.origins = [Origin(name, "data", "", shown, True if shown else None), *found.origins]
    if _is_method(made, needed):
        found.remedies = [
            Remedy("lacks-itself", (("x", name), ("y", owner), ("z", ast.unparse(made or value))), owner, "rule")
        ]
    else:
        found.remedies = [Remedy("lacks-other", (("x", name), ("y", listed)), None, "rule")]
    return found


def _collected(function: Function, line: int) -> tuple[list[str], str]:
    """What each object has to have, and the name of what the library goes through; empty where it collects nothing of the kind."""
    tests = [node.test for node in holding(function, line) if isinstance(node, ast.If)]
    names = {part.id for test in tests for part in ast.walk(test) if isinstance(part, ast.Name)}
    for loop in ast.walk(function):
        if (
            not isinstance(loop, ast.For)
            or not isinstance(loop.target, ast.Name)
            or not isinstance(loop.iter, ast.Name)
        ):
            continue
        for check in loop.body:
            if isinstance(check, ast.If) and _appends(check.body, loop.target.id, names, function, line):
                asked = (
                    check.test.values
                    if isinstance(check.test, ast.BoolOp) and isinstance(check.test.op, ast.Or)
                    else [check.test]
                )
                needed = [_lacked(one, loop.target.id) for one in asked]
                if all(needed):
                    return needed, loop.iter.id
    return [], ""


def _appends(body: list[ast.stmt], one: str, names: set[str], function: Function, line: int) -> bool:
    """Whether statements add a name to a list that the condition asks for, and that is empty at first."""
    for node in body:
        call = node.value if isinstance(node, ast.Expr) else None
        if (
            isinstance(call, ast.Call)
            and called(call) == "append"
            and [ast.unparse(part) for part in call.args] == [one]
        ):
            holder = call.func.value if isinstance(call.func, ast.Attribute) else None
            if isinstance(holder, ast.Name) and holder.id in names:
                return [ast.unparse(value) for value in given_values(holder.id, function, line)] == ["[]"]
    return False


def _lacked(test: ast.expr, one: str) -> str:
    """``a`` of ``not hasattr(one, "a")``; "" for another test."""
    call = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else None
    if not isinstance(call, ast.Call) or ast.unparse(call.func) != "hasattr" or len(call.args) != 2:
        return ""
    name = call.args[1].value if isinstance(call.args[1], ast.Constant) else None
    return name if isinstance(name, str) and ast.unparse(call.args[0]) == one else ""


def _passed(call: ast.Call, function: Function, several: str) -> list[ast.expr]:
    """What a call of the user's passes for ``*several``, or the items of the list that it passes for ``several``."""
    if called(call).rpartition(".")[2] != function.name or several not in parameters(function):
        return []
    if function.args.vararg is not None and function.args.vararg.arg == several:
        plain = [one for one in function.args.args if one.arg not in ("self", "cls")]
        return call.args[len(plain) :]
    names = [one for one in parameters(function) if one not in ("self", "cls")]
    given = [one.value for one in call.keywords if one.arg == several]
    given += [value for name, value in zip(names, call.args, strict=False) if name == several]
    return [item for one in given if isinstance(one, (ast.List, ast.Tuple)) for item in one.elts]


def _is_method(made: ast.Call | None, needed: list[str]) -> bool:
    """Whether a value was made by what the object itself should have: ``state = model.state_dict()``."""
    return made is not None and isinstance(made.func, ast.Attribute) and made.func.attr in needed
