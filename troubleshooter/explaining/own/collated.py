"""The user's own function that makes the batches of a data loader, for a batch that is None in a line of the user's own."""

from __future__ import annotations

import ast

from troubleshooter.explaining.own.made_by import Makers
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.calls import called, passed
from troubleshooter.explaining.source.names import NameContext, given_values, is_each, parameters, position_of
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction
from troubleshooter.explaining.source.shown import code, gone_through, marked


def collate_function(value: ast.expr, context: NameContext, makers: Makers, trace: Trace) -> OwnFunction | None:
    """The function that a loader's ``collate_fn`` names, where a value is what the loader gives; None where it is something else."""
    at = len(trace.frames) - 1
    while isinstance(value, ast.Name) and context.function is not None and value.id in parameters(context.function):
        if given_values(value.id, context.function, context.line):
            return None
        outer = trace.context(at - 1) if at > 0 else None
        if outer is None:
            return None
        frame = trace.frames[at - 1]
        call = called(outer.source.tree, frame, code(frame), marked(frame), context.function, "")
        is_method = context.owner is not None
        given = passed(call, value.id, position_of(context.function, value.id, method=is_method)) if call else None
        if not isinstance(given, ast.expr):
            return None
        value, context, at = given, outer, at - 1
    loader = _gone_through(value, context) if isinstance(value, ast.Name) else None
    made = own_flow.way(loader, context)[-1].value if loader is not None else None
    if not isinstance(made, ast.Call):
        return None
    names = [ast.unparse(one.value) for one in made.keywords if one.arg == "collate_fn"]
    found = [one for one in makers.functions if one.owner is None and one.name in names]
    return found[0] if len(found) == 1 else None


def _gone_through(name: ast.Name, context: NameContext) -> ast.expr | None:
    """What the loop goes through that gives a name its items."""
    scope = context.function or context.source.tree
    given = [one for one in given_values(name.id, scope, context.line) if is_each(one, scope)]
    return next(iter(gone_through(given[0])), None) if given else None
