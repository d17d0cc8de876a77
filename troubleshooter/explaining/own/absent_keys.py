"""A key that the user's own line asks a dictionary for and that it cannot have, or does not have each time.

The keys of JSON are texts, -100 marks labels that nobody asks for, and what a library hands to a callback has not the same keys
each time.
"""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext, parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called, code, nodes_of, parsed
from troubleshooter.explaining.source.statements import statement_at
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

IGNORED = -100
_READS = ("json.load", "json.loads", "loads", "orjson.loads", "ujson.load", "ujson.loads")
_PARTS = ("get", "pop", "copy", "setdefault", "values", "items")
"""Methods that give a dictionary, or a part of it, as it is."""
_SAME = ("dict", "list", "enumerate", "zip", "iter", "next", "reversed", "deepcopy", "OrderedDict")
"""Functions of which the same is true."""
_BY_NUMBER = "{{int(key): value for key, value in {}.items()}}"
_REPORTS = ("logs", "metrics")
_INPUTS = ("inputs", "batch", "state_dict")
"""Parameters that a library fills with a dictionary: of what it has just measured, and of what a step needs."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation; None for another key."""
    if failure.type != "KeyError":
        return None
    item = _asked(trace, found)
    if item is None:
        return None
    key = literal(failure.message)
    if key == IGNORED and isinstance(item.slice, ast.Name):
        return _ignored(found, item, item.slice.id, trace, lang)
    if failure.message.startswith("tensor("):
        return _of_tensor(found, item, lang)
    context = trace.context(len(trace.frames) - 1)
    if context is None or key is UNKNOWN:
        return None
    if (told := _of_other_kind(found, item, key, context, lang)) is not None:
        return told
    if isinstance(key, int) and not isinstance(key, bool):
        return _of_json(found, item, key, context, lang)
    return _handed(found, item, key, context, trace, lang) if isinstance(key, str) else None


def _asked(trace: Trace, found: FoundPlace) -> ast.Subscript | None:
    """The part of the line that asked for the key, where one dictionary only can have been asked."""
    for nodes in nodes_of(trace.frames[-1]):
        items = [node for node in nodes if isinstance(node, ast.Subscript)]
        mine = [node for node in items if found.origins and ast.unparse(node.value) == found.origins[0].name]
        if len({ast.unparse(node) for node in mine}) == 1:
            return mine[0]
    return None


def _ignored(found: FoundPlace, item: ast.Subscript, name: str, trace: Trace, lang: str) -> FoundPlace:
    holder = ast.unparse(item.value)
    context = trace.context(len(trace.frames) - 1)
    statement = statement_at(context) if context is not None else parsed(code(trace.frames[-1]))
    loops = [
        node
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.comprehension) and any(getattr(one, "id", "") == name for one in ast.walk(node.target))
    ]
    text = f"if {name} != {IGNORED}" + ("" if loops else ":")
    found.condition = say("key-ignored", lang, k=name, x=holder)
    found.origins = [Origin(name, "data", "", str(IGNORED)), Origin(holder, "data")]
    found.remedies = [Remedy("key-leave", (("x", text),), text, "rule")]
    return found


def _of_tensor(found: FoundPlace, item: ast.Subscript, lang: str) -> FoundPlace:
    holder, asked = ast.unparse(item.value), ast.unparse(item.slice)
    text = f"{holder}[{asked}.item()]"
    found.condition = say("key-tensor", lang, x=holder, k=asked)
    found.origins = [Origin(asked, "data"), Origin(holder, "data")]
    found.remedies = [Remedy("key-number", (("x", text),), text, "rule")]
    return found


def _of_other_kind(
    found: FoundPlace, item: ast.Subscript, key: object, context: NameContext, lang: str
) -> FoundPlace | None:
    """A text for a number among the keys that the file writes, or a number for a text."""
    made = own_flow.way(item.value, context)[-1]
    keys = (
        [literal(ast.unparse(one)) for one in made.value.keys if one is not None]
        if isinstance(made.value, ast.Dict)
        else []
    )
    if made.each or type(key) not in (int, str) or key in keys or not any(str(one) == str(key) for one in keys):
        return None
    holder, asked = ast.unparse(item.value), ast.unparse(item.slice)
    other = next(one for one in keys if str(one) == str(key))
    turned = repr(other) if isinstance(item.slice, ast.Constant) else f"{type(other).__name__}({asked})"
    place = file_line(made.context.source.path, made.value.lineno)
    text = f"{holder}[{turned}]"
    found.condition = say("key-kind", lang, x=holder, k=repr(key), y=repr(other), place=place)
    found.origins = [Origin(asked, "data", "", repr(key)), Origin(holder, "data")]
    found.remedies = [Remedy("own-convert", (("x", text),), text, "rule")]
    return found


def _of_json(found: FoundPlace, item: ast.Subscript, key: int, context: NameContext, lang: str) -> FoundPlace | None:
    read = _reading(item.value, context)
    later = _set_elsewhere(item.value, context) if read is None else None
    read = read or later
    if read is None:
        return None
    place = file_line(read.context.source.path, read.value.lineno)
    holder, asked = ast.unparse(item.value), ast.unparse(item.slice)
    text = f'{holder}["{asked}"]' if isinstance(item.slice, ast.Constant) else f"{holder}[str({asked})]"
    found.condition = say("key-json", lang, x=holder, k=key, place=place)
    found.origins = [Origin(asked, "data", "", str(key)), Origin(holder, "data")]
    found.remedies = [Remedy("key-as-text", (("x", text),), text, "rule")]
    if later is not None:  # what is set elsewhere by number is read by number, too
        made = _BY_NUMBER.format(ast.unparse(read.value))
        found.remedies.insert(0, Remedy("key-as-number", (("x", made),), made, "rule"))
    return found


def _reading(value: ast.expr, context: NameContext) -> own_flow.FlowStep | None:
    """The call that read the JSON which a value is, or is a part of; None where it is none, or was made anew on the way."""
    for _ in range(2 * own_flow.MAX_STEPS):
        name = ast.unparse(value.func) if isinstance(value, ast.Call) else ""
        if isinstance(value, ast.Call) and name in _READS:
            is_plain = not any((one.arg or "").startswith("object_") for one in value.keywords)
            return own_flow.FlowStep(value, context) if is_plain else None
        if isinstance(value, ast.Subscript):
            value = value.value
        elif isinstance(value, ast.ListComp):
            value = value.elt
        elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _PARTS:
            value = value.func.value
        elif isinstance(value, ast.Call) and called(value) in _SAME and len(value.args) == 1:
            value = value.args[0]
        elif (step := own_flow.before(value, context)) is not None:
            value, context = step.value, step.context
        else:
            return None
    return None


def _set_elsewhere(value: ast.expr, context: NameContext) -> own_flow.FlowStep | None:
    """The reading of JSON that gave an attribute its value where an object is made anew: ``history.losses = json.loads(...)``."""
    if not isinstance(value, ast.Attribute):
        return None
    found = [
        node.value
        for node in ast.walk(context.source.tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in _READS
        if any(isinstance(one, ast.Attribute) and one.attr == value.attr for one in node.targets)
    ]
    return own_flow.FlowStep(found[0], context) if len(found) == 1 else None


def _handed(
    found: FoundPlace, item: ast.Subscript, key: str, context: NameContext, trace: Trace, lang: str
) -> FoundPlace | None:
    """A dictionary that a library handed to the function of the line, as a parameter whose name says what it holds."""
    name, function = item.value, context.function
    if not isinstance(name, ast.Name) or function is None or name.id not in parameters(function):
        return None
    if name.id not in (*_REPORTS, *_INPUTS) or not own_flow.is_called_by_library(function, trace):
        return None
    is_report = name.id in _REPORTS or function.name.startswith("on_")
    test = Remedy("own-guard", (("x", f"if {key!r} in {name.id}:"),), f"if {key!r} in {name.id}:", "rule")
    found.condition = say(
        "key-handed" if is_report else "key-lacks", lang, told=found.condition, f=function.name, x=name.id
    )
    found.remedies = [test, *found.remedies] if is_report else [*found.remedies, test]
    return found
