"""The way of a value through the user's own file: what gave it to a name, an attribute, a parameter, or what a function returned."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from troubleshooter.explaining.source.calls import passed
from troubleshooter.explaining.source.names import NameContext, binds, given_values, is_each, parameters, position_of
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction, functions_of
from troubleshooter.explaining.source.sources import Function, SourceFile

MAX_STEPS = 8
"""Names, attributes and calls that are followed for one value."""
_END = 10**9
"""A line below all others: what a module gives a name counts for its functions wherever it stands."""


class FlowStep:
    """A value on its way. ``each``: a loop gave items of it, so that it is not the value itself."""

    def __init__(self, value: ast.expr, context: NameContext, *, each: bool = False) -> None:
        self.value = value
        self.context = context
        self.each = each


def way(value: ast.expr, context: NameContext) -> list[FlowStep]:
    """What a value comes from, the nearest first, as long as each step has one way only."""
    found: list[FlowStep] = [FlowStep(value, context)]
    while len(found) <= MAX_STEPS:
        step = before(found[-1].value, found[-1].context)
        if step is None:
            break
        step.each = step.each or found[-1].each
        found.append(step)
    return found


def functions_named(name: str, source: SourceFile, owner: ast.ClassDef | None = None) -> list[OwnFunction]:
    """The functions of a name in a file; with ``owner`` the methods of this class."""
    return [one for one in functions_of(source) if one.name == name and one.owner is owner]


def before(value: ast.expr, context: NameContext) -> FlowStep | None:
    """What gave a value, one step back; None where nothing did, or several may have."""
    if isinstance(value, ast.Name):
        return _of_name(value.id, context)
    if isinstance(value, ast.Attribute) and ast.unparse(value.value) == "self" and context.owner is not None:
        return _of_attribute(value.attr, context)
    if isinstance(value, ast.Call):
        return _of_call(value, context)
    return None


def _of_name(name: str, context: NameContext) -> FlowStep | None:
    function = context.function
    scope: Function | ast.Module = context.source.tree
    line = context.line
    if function is not None and binds(function, name):
        scope = function
        if name in parameters(function) and not given_values(name, function, line):
            return _of_parameter(name, function, context)
    elif function is not None:
        context, line = context._replace(owner=None, function=None), _END
    given = given_values(name, scope, line)
    if not given or (line == _END and len(given) > 1):
        return None
    return FlowStep(given[0], context._replace(line=given[0].lineno), each=is_each(given[0], scope))


def _of_parameter(name: str, function: Function, context: NameContext) -> FlowStep | None:
    """What the only call of a function in its file passes for a parameter."""
    is_made = function.name == "__init__" and context.owner is not None
    called = context.owner.name if is_made and context.owner is not None else function.name
    several = list(_calls(called, context.source.tree))
    if len(several) != 1:
        return None
    call = several[0]
    given = passed(call, name, position_of(function, name, method=context.owner is not None))
    if not isinstance(given, ast.expr):
        return None
    return FlowStep(given, NameContext(context.source, *context.source.around(call.lineno), call.lineno, None))


def _calls(name: str, tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called == name:
                yield node


def _of_attribute(name: str, context: NameContext) -> FlowStep | None:
    """What a class gives an attribute of its own, if that is one value."""
    found = [
        node
        for node in ast.walk(context.owner or ast.Module([], []))
        if isinstance(node, ast.Assign)
        and any(isinstance(one, ast.Attribute) and ast.unparse(one) == f"self.{name}" for one in node.targets)
    ]
    if len(found) != 1:
        return None
    line = found[0].lineno
    return FlowStep(found[0].value, NameContext(context.source, *context.source.around(line), line, None))


def _of_call(call: ast.Call, context: NameContext) -> FlowStep | None:
    """What the user's own function returns, if it does so in one place only."""
    function = called_function(call, context)
    if function is None or function.is_generator:
        return None
    returned = [node.value for node in function.returned if node.value is not None]
    if len(returned) != 1 or len(function.returned) != 1:
        return None
    line = returned[0].lineno
    return FlowStep(returned[0], NameContext(function.source, function.owner, function.function, line, None))


def is_called_by_library(function: Function, trace: Trace) -> bool:
    """Whether the traceback shows that a library called this function of the user's own."""
    for at in trace.own:
        context = trace.context(at)
        if context is not None and context.function is function:
            return at > 0 and at - 1 not in trace.own
    return False


def called_function(call: ast.Call, context: NameContext) -> OwnFunction | None:
    """The user's own function that a call runs; None where the file has none of its name, or several."""
    if isinstance(call.func, ast.Name):
        found = functions_named(call.func.id, context.source)
    elif isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "self":
        found = functions_named(call.func.attr, context.source, context.owner) if context.owner is not None else []
    else:
        return None
    return found[0] if len(found) == 1 else None
