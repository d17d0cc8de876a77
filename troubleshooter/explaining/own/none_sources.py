"""Where a None of the user's own line came from: a key that is not there, an attribute that is set later, a default of a parameter."""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal, nearest
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.calls import NOT_PASSED, calls_at, passed
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext, given_values, parameters, position_of
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_data import written_keys
from troubleshooter.explaining.source.shown import called
from troubleshooter.explaining.source.sources import Function
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_ENVIRONMENT = ("os.environ", "environ", "os")


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace:
    """The explanation with the source of the None, and what would give a value there; the same where the file does not show it."""
    context = trace.context(len(trace.frames) - 1)
    if context is None or "NoneType" not in failure.message:
        return found
    for name in [one.name for one in found.origins]:
        value = _expression(name)
        told = _of_value(value, context, trace, lang) if value is not None else None
        if told is not None:
            condition, fix = told
            found.condition = say("none-because", lang, told=found.condition, x=condition)
            found.remedies = [fix, *found.remedies]
            return found
    return found


def _expression(name: str) -> ast.expr | None:
    try:
        return ast.parse(name, mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _of_value(value: ast.expr, context: NameContext, trace: Trace, lang: str) -> tuple[str, Remedy] | None:
    for step in own_flow.way(value, context):
        if step.each:
            return None
        if isinstance(step.value, ast.Attribute) and step.value.attr == "loss":
            return _of_loss(step.value, step.context, lang)
        if isinstance(step.value, ast.Call) and called(step.value) in ("get", "getenv", "os.getenv"):
            return _of_key(step.value, step.context, lang)
        if isinstance(step.value, ast.Subscript) and isinstance(step.value.slice, ast.Constant):
            return _of_item(step.value, lang)
        if isinstance(step.value, ast.Attribute) and ast.unparse(step.value.value) == "self":
            told = _of_attribute(step.value.attr, step.context, lang)
            if told is not None:
                return told
        if isinstance(step.value, ast.Name) and step.context.function is not None:
            told = _of_default(step.value.id, step.context.function, step.context, trace, lang)
            if told is not None:
                return told
    return None


def _of_loss(value: ast.Attribute, context: NameContext, lang: str) -> tuple[str, Remedy] | None:
    """The loss of a model that was called by keywords, ``labels`` not among them."""
    made = own_flow.before(value.value, context)
    call = made.value if made is not None and not made.each else None
    if not isinstance(call, ast.Call) or not call.keywords or any(one.arg in ("labels", None) for one in call.keywords):
        return None
    given = {one.arg: ast.unparse(one.value) for one in call.keywords}
    if "input_ids" not in given:
        return None
    told = say("loss-no-labels", lang, x=ast.unparse(call.func), line=call.lineno)
    labels = given["input_ids"].replace("input_ids", "labels")
    return told, Remedy("loss-labels", (("x", f"labels={labels}"),), f"labels={labels}", "rule")


def _of_item(item: ast.Subscript, lang: str) -> tuple[str, Remedy] | None:
    """A key that is there, and holds None: an empty section of a configuration, a null of the data."""
    key = literal(ast.unparse(item.slice))
    if not isinstance(key, str):
        return None
    told = say("none-item", lang, x=ast.unparse(item), line=item.lineno)
    return told, Remedy("none-fill", (("x", repr(key)),), None, "rule")


def _of_key(call: ast.Call, context: NameContext, lang: str) -> tuple[str, Remedy] | None:
    """A key, or a variable of the environment, that is not there."""
    holder = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    if len(call.args) != 1 or call.keywords:
        return None
    key = literal(ast.unparse(call.args[0]))
    told = say("none-get", lang, x=ast.unparse(call), line=call.lineno)
    if holder in _ENVIRONMENT or called(call) in ("getenv", "os.getenv"):
        fix = Remedy("none-variable", (("x", str(key)),), f"export {key}=...", "rule") if isinstance(key, str) else None
        return (told, fix) if fix is not None else None
    there = list(dict(written_keys(context.source.tree)))
    meant = nearest(key, there) if isinstance(key, str) and there and key not in there else UNKNOWN
    if meant is not UNKNOWN:
        return told, Remedy("do-replace", (("x", repr(key)), ("y", repr(meant))), repr(meant), "rule")
    text = f"{ast.unparse(call.func)}({ast.unparse(call.args[0])}, ...)"
    return told, Remedy("none-default", (("x", text),), text, "rule")


def _of_attribute(name: str, context: NameContext, lang: str) -> tuple[str, Remedy] | None:
    """An attribute that is None until one other method of its class has run."""
    owner = context.owner
    if owner is None:
        return None
    setters: dict[str, int] = {}
    begins_as_none = False
    for method in owner.body:
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for node in ast.walk(method):
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if not any(ast.unparse(one) == f"self.{name}" for one in targets):
                continue
            if isinstance(node.value, ast.Constant) and node.value.value is None:
                begins_as_none = begins_as_none or method.name == "__init__"
            else:
                setters.setdefault(method.name, node.lineno)
    here = context.function.name if context.function is not None else ""
    if not begins_as_none or len(setters) != 1 or here in setters or "__init__" in setters:
        return None
    [(method_name, line)] = setters.items()
    told = say("none-unset", lang, x=f"self.{name}", f=method_name, line=line)
    return told, Remedy("none-call", (("x", f"{method_name}()"),), None, "rule")


def _of_default(
    name: str, function: Function, context: NameContext, trace: Trace, lang: str
) -> tuple[str, Remedy] | None:
    """A parameter whose default is None, which the call that ran the function does not pass."""
    if name not in parameters(function) or given_values(name, function, context.line):
        return None
    if _default(name, function) is None:
        return None
    call = _call_of(function, context, trace)
    if (
        call is None
        or passed(call[0], name, position_of(function, name, method=context.owner is not None)) is not NOT_PASSED
    ):
        return None
    place = file_line(call[1].source.path, call[0].lineno)
    told = say("none-not-passed", lang, x=name, f=function.name, place=place)
    return told, Remedy("own-pass", (("x", f"{name}=..."),), f"{name}=...", "rule")


def _call_of(function: Function, context: NameContext, trace: Trace) -> tuple[ast.Call, NameContext] | None:
    """The call that ran a function: in the frame before its own, else the only one in its file."""
    made = function.name == "__init__" and context.owner is not None
    name = context.owner.name if made and context.owner is not None else function.name
    at = next((n for n in trace.own if (here := trace.context(n)) is not None and here.function is function), None)
    if at is not None:
        before = trace.context(at - 1) if at - 1 in trace.own else None
        calls = calls_at(before.source.tree, before.line) if before is not None else []
    else:
        before = context
        calls = [node for node in ast.walk(context.source.tree) if isinstance(node, ast.Call)]
    named = [one for one in calls if called(one).rpartition(".")[2] == name]
    return (named[0], before) if before is not None and len(named) == 1 else None


def _default(name: str, function: Function) -> ast.Constant | None:
    """The None that a parameter has without a value; None where it has none, or another."""
    given = function.args
    several = [*zip(reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False)]
    several += [
        (one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None
    ]
    found = next((value for one, value in several if one.arg == name), None)
    return found if isinstance(found, ast.Constant) and found.value is None else None
