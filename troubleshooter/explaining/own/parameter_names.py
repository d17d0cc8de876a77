"""A model's parameter that a dictionary of the user's own does not know: its names were taken before the model changed.

An average of the weights is the usual case: it copies ``model.named_parameters()`` when it is made, and a head, an adapter or
a wrapper that comes later brings other names.
"""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy, literal
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called, nodes_of
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_LISTS = ("named_parameters", "named_buffers", "named_modules", "state_dict")
_CHANGES = ("add_", "load_adapter", "merge_", "unload", "resize_", "insert", "append", "register_", "init_", "inject_")
"""How methods begin that give a model other parts."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the line that changed the model; None where nothing shows that it was changed."""
    context = trace.context(len(trace.frames) - 1)
    key = literal(failure.message)
    if context is None or failure.type != "KeyError" or not isinstance(key, str) or "." not in key:
        return None
    owner = context.owner
    holder = _asked(trace)
    if owner is None or not holder.startswith("self.") or not _lists_names(holder, owner):
        return None
    made = [node for node in ast.walk(context.source.tree) if isinstance(node, ast.Call) and called(node) == owner.name]
    if len(made) != 1 or not made[0].args or not isinstance(made[0].args[0], ast.Name):
        return None
    model = made[0].args[0].id
    change = _change(model, made[0], context)
    if change is None:
        return None
    maker, changed = ast.unparse(made[0]), ast.unparse(change)
    found.condition = say(
        "names-before", lang, told=found.condition, x=holder, m=model, y=maker, z=changed, line=change.lineno
    )
    found.origins = [Origin(holder, "data"), Origin(model, "data")]
    found.remedies = [Remedy("names-after", (("x", maker), ("y", changed)), None, "rule"), *found.remedies]
    return found


def _asked(trace: Trace) -> str:
    """What the line asks for a key that is a name; "" where that may be several things."""
    for nodes in nodes_of(trace.frames[-1]):
        found = {
            ast.unparse(node.value)
            for node in nodes
            if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name)
        }
        if len(found) == 1:
            return found.pop()
    return ""


def _lists_names(holder: str, owner: ast.ClassDef) -> bool:
    """Whether the class fills the dictionary from a list of a model's parts when an object is made."""
    for function in owner.body:
        if not isinstance(function, ast.FunctionDef) or function.name != "__init__":
            continue
        for node in ast.walk(function):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(ast.unparse(one) == holder for one in targets) and _is_list(node.value):
                    return True
            if isinstance(node, ast.For) and _is_list(node.iter):
                filled = [one for part in node.body for one in ast.walk(part) if isinstance(one, ast.Subscript)]
                if any(ast.unparse(one.value) == holder and isinstance(one.ctx, ast.Store) for one in filled):
                    return True
    return False


def _is_list(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) and called(node) in _LISTS for node in ast.walk(value))


def _change(model: str, made: ast.Call, context: NameContext) -> ast.stmt | None:
    """The only statement below a call, in the same function, that gives the model other parts or wraps it."""
    _, function = context.source.around(made.lineno)
    scope: ast.AST = function if function is not None else context.source.tree
    found = [
        node
        for node in ast.walk(scope)
        if isinstance(node, (ast.Assign, ast.Expr))
        and node.lineno > (made.end_lineno or made.lineno)
        and (function is not None or context.source.around(node.lineno)[1] is None)
        and _changes(node, model)
    ]
    return found[0] if len(found) == 1 else None


def _changes(statement: ast.Assign | ast.Expr, model: str) -> bool:
    value = statement.value
    if not isinstance(value, ast.Call):
        return False
    if isinstance(statement, ast.Assign):
        is_same = any(isinstance(one, ast.Name) and one.id == model for one in statement.targets)
        return is_same and any(isinstance(one, ast.Name) and one.id == model for one in value.args)
    is_method = isinstance(value.func, ast.Attribute) and ast.unparse(value.func.value) == model
    return is_method and called(value).startswith(_CHANGES)
