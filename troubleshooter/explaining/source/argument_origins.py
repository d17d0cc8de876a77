"""What an argument comes from: the call one frame further out that passes it, up to the user's own."""

from __future__ import annotations

import ast

from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.source.calls import NOT_PASSED, PASSED_ON, Unseen, called, is_unbound, passed
from troubleshooter.explaining.source.classes import Attribute, is_construction
from troubleshooter.explaining.source.forms import class_called, item_parameter
from troubleshooter.explaining.source.frames import TraceFrames
from troubleshooter.explaining.source.mappings import entry, mapping_of
from troubleshooter.explaining.source.names import NameContext, parameters, position_of, rest_names, rest_of, signature
from troubleshooter.explaining.source.shown import calls, code, is_whole, item_of, marked


def constructed(trace: TraceFrames, name: str, found: Attribute, context: NameContext) -> Origin:
    """A field of a dataclass: what the call that made the object gives it."""
    owner = context.owner.name if context.owner else ""
    origin = Origin(name, "argument", owner, None, None, found.default, found.annotation)
    for at in range((context.at or 0) - 1, -1, -1):
        for call in calls(code(trace.frames[at])):
            if not is_construction(call):
                continue
            value = passed(call, name, None)
            if isinstance(value, ast.expr):
                shown = ast.unparse(trace.own_code.written(value, at) if at in trace.own else value)
                return origin._replace(value=shown, passed=True, owner=ast.unparse(call.func))
            if value is NOT_PASSED and not call.args and is_whole(code(trace.frames[at])):
                return origin._replace(value=found.default, passed=False, owner=ast.unparse(call.func))
            if at in trace.own:
                origin = origin._replace(owner=ast.unparse(call.func))
                given = trace.own_code.one(name, class_called(origin.owner))
                return trace.given(origin, given) if given is not None else origin
    return origin


def parameter(trace: TraceFrames, name: str, context: NameContext, left: int) -> list[Origin]:
    """A parameter: what the call one frame further out passes for it."""
    function, at = context.function, context.at
    if function is None:
        return []
    owner = context.owner.name if context.owner is not None and function.name.startswith("__") else function.name
    if name in rest_names(function):  # what it holds has names of its own
        return [Origin(name, "data", owner)]
    default, annotation = signature(function, name)
    origin = Origin(name, "argument", owner, None, None, default, annotation)
    position = position_of(function, name, method=context.owner is not None)
    while at is not None and at > 0:
        at -= 1
        frame = trace.frames[at]
        if frame.file.startswith("<") or frame.path.endswith("/contextlib.py"):
            continue
        outer = trace.context(at)
        text = code(frame)
        item = item_of(text, marked(frame)) if name == item_parameter(function) else None
        if at in trace.own and item is not None:
            return [origin._replace(value=ast.unparse(item), passed=True)]
        call = called(outer.source.tree if outer else None, frame, text, marked(frame), function, owner)
        if call is None:
            return [origin._replace(lost=at not in trace.own)]
        if at in trace.own:
            call = trace.own_code.filled(call, at)
        unbound = context.owner is not None and is_unbound(call)
        value = passed(call, name, position + 1 if unbound and position is not None else position)
        if isinstance(value, Unseen) and value is PASSED_ON:
            if at in trace.own:
                given = trace.own_code.one(name, ast.unparse(call.func).rpartition(".")[2])
                return [trace.given(origin, given) if given is not None else origin]
            if (behind := _behind_mapping(trace, call, name, outer, left)) is not None:
                return behind or [origin._replace(lost=True)]
            position = position if any(isinstance(part, ast.Starred) for part in call.args) else None
            continue
        if isinstance(value, Unseen):
            if default is None:  # it has to be passed, so this call does, in a way that is not seen
                return [origin._replace(lost=True)]
            whole = outer is not None or is_whole(text)
            # What a library's own call leaves out is not the user's to pass.
            lost = default == "None" and at not in trace.own
            return [origin._replace(value=default if whole else None, passed=False if whole else None, lost=lost)]
        if at in trace.own:
            written = trace.own_code.written(value, at)
            place = trace.own_code.run_place(written)
            return [origin._replace(value=ast.unparse(written), passed=True, place=place)]
        if outer is None:
            return [origin._replace(lost=True)]
        # A name that is only passed on takes one step for each frame, not two.
        inner = trace.origins_of_value(value, outer, left if isinstance(value, ast.Name) else left - 1)
        if inner:
            return inner
        # The library itself passes it: nothing of this name is the user's to set.
        shown = ast.unparse(value) if isinstance(value, ast.Constant) else None
        return [origin._replace(kind="attribute", value=shown)]
    is_made = at is None and context.owner is not None
    made = trace.own_code.made(name, owner, position) if is_made else None
    return [trace.given(origin, made) if made is not None else origin]


def _behind_mapping(
    trace: TraceFrames, call: ast.Call, name: str, context: NameContext | None, left: int
) -> list[Origin] | None:
    """The origins of an argument that a library's call passes within ``**mapping``; None where that is what it got itself."""
    mapping = mapping_of(call)
    if context is None or context.function is None or mapping is None:
        return None
    if isinstance(mapping, ast.Name) and mapping.id in parameters(context.function):
        return None
    found = entry(mapping, name, context)
    if found is None:  # it may have been made from what the function itself got
        return None if rest_of(context.function) else []
    return trace.origins_of_value(found[0], found[1], left - 1)
