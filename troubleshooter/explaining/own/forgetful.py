"""Functions of the user's own that a library calls for a value, and that can end without ``return``."""

from __future__ import annotations

import ast

from troubleshooter.explaining.own.made_by import Makers
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.names import NameContext, parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction, class_of_value

_GIVES_A_VALUE = frozenset(
    ("__call__", "__getitem__", "__len__", "__next__", "forward", "compute_loss", "training_step", "torch_call")
)
"""Methods that nobody calls for their effect alone."""


def only_one(makers: Makers, trace: Trace, *, of_row: bool = False) -> OwnFunction | None:
    """The only such function; of several the only one that gives a row, where ``of_row``. One that still runs has given nothing."""
    running = [context.function for at in trace.own if (context := trace.context(at)) is not None]
    known = [*makers.given_to_library(), *(one for one in makers.functions if one.owner is not None)]
    found = [
        one
        for one in dict.fromkeys(known)
        if one.function not in running and not one.is_generator and _may_give_none(one) and _is_asked(one, makers)
    ]
    rows = [one for one in found if one.name == "__getitem__"] if of_row else []
    several = rows or found
    return several[0] if len(several) == 1 else None


def of_own_parameter(value: ast.expr, context: NameContext, makers: Makers, trace: Trace) -> OwnFunction | None:
    """The function that gave None to a line of the user's own through what a library passed to the function of the line."""
    last = own_flow.way(value, context)[-1]
    name, function = last.value, last.context.function
    if not isinstance(name, ast.Name) or function is None or name.id not in parameters(function):
        return None
    return only_one(makers, trace, of_row=True) if own_flow.is_called_by_library(function, trace) else None


def called(value: ast.expr, context: NameContext) -> OwnFunction | None:
    """The function of the user's own that a line calls, or whose result a name has: also that of an object of their class."""
    last = next((one for one in own_flow.way(value, context) if isinstance(one.value, ast.Call)), None)
    if last is None or last.each or not isinstance(last.value, ast.Call):
        return None
    if (found := own_flow.called_function(last.value, last.context)) is not None:
        return found
    made = own_flow.way(last.value.func, last.context)[-1].value
    name = made.func.id if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) else ""
    owner = context.source.class_named(name)
    several = [
        one for special in ("__call__", "forward") for one in own_flow.functions_named(special, context.source, owner)
    ]
    return several[0] if owner is not None and len(several) == 1 else None


def _may_give_none(one: OwnFunction) -> bool:
    """Whether it can end without ``return``, or a method that gives values says None itself."""
    says_none = any(class_of_value(node.value) == "NoneType" for node in one.returned)
    return one.may_end or (one.owner is not None and says_none)


def result(one: OwnFunction) -> str:
    """What it may return: the one name that it works on; "..." where there are several, or none."""
    changed = {
        node.value.id
        for node in ast.walk(one.function)
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id != "self"
    }
    last = one.function.body[-1]
    if not one.returned and not changed and isinstance(last, ast.Assign) and isinstance(last.targets[0], ast.Name):
        changed = {last.targets[0].id}
    return changed.pop() if len(changed) == 1 and not one.returned else "..."


def _is_asked(one: OwnFunction, makers: Makers) -> bool:
    """Whether a value is asked of it: it gives one in some cases, or its class is made from one that a library knows.

    Of methods only those whose name says so: one of the user's own may well give None in some cases.
    """
    gives_one = any(node.value is not None for node in one.returned)
    if one.owner is None:
        return gives_one
    return one.name in _GIVES_A_VALUE and (gives_one or one.name != "__call__" or makers.is_derived(one))
