"""A class where an object made of it was meant: ``return Template`` in place of ``return Template()``.

Python's message only says that an argument is missing, because what was passed took the place of the object.
"""

from __future__ import annotations

import ast
import copy

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext, needs_arguments, parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_imports import definition_at
from troubleshooter.explaining.source.shown import call_of
from troubleshooter.explaining.source.statements import statement_at
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(
    r"^(?:[\w.<>]{1,160}\.)?(?P<c>\w{1,80})\.(?P<f>\w{1,80})\(\) missing 1 required positional argument: '(?P<x>\w{1,80})'$"
)
_FOR_CLASSES = lazy.compile(r"(?i)(?:cls|class|klass|type|kind)$")
"""How names end that are to hold a class."""
LONG = 120
"""Characters of a statement that is shown."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace:
    """The explanation with the place that gives the class; the same where it cannot be seen that it is one."""
    said = _MESSAGE.match(failure.message) if failure.type == "TypeError" else None
    context = trace.context(len(trace.frames) - 1) if said is not None else None
    call = call_of(trace.frames[-1], said["f"]) if said is not None else None
    if said is None or context is None or call is None or not isinstance(call.func, ast.Attribute):
        return found
    holder, owner, method = call.func.value, said["c"], said["f"]
    if bool(call.args) is (said["x"] == "self") or any(isinstance(one, ast.Starred) for one in call.args):
        return found
    takes_object, made = _class(owner, method, context, trace)
    if takes_object is False:
        return found
    name = ast.unparse(holder)
    new = ast.Call(holder, made.args if made is not None else [], [])
    at_call = ast.unparse(ast.Call(ast.Attribute(new, method), call.args, call.keywords))
    if len(at_call) > LONG:
        return found
    if name == owner:
        if not takes_object or not call.args:
            return found
        found.condition = say("own-on-class", lang, c=owner, f=method, x=ast.unparse(call.args[0]))
        found.origins = [Origin(owner, "data")]
        found.remedies = [Remedy("own-object", (("x", at_call),), at_call, "rule")]
        return found
    taken = _taken(holder, owner, made or _made(ast.Name(owner)), context)
    if taken is None:
        return found
    place, code = taken
    if _FOR_CLASSES.search(name):
        if not takes_object:
            return found
        code = at_call
    key = "class-meant" if call.args else "class-meant-empty"
    found.condition = say(key, lang, x=name, c=owner, f=method, place=place)
    found.origins = [Origin(name, "data", "", owner, True, place=place)]
    found.remedies = [Remedy("class-make", (("x", code),), code, "rule")]
    return found


def _class(name: str, method: str, context: NameContext, trace: Trace) -> tuple[bool | None, ast.Call | None]:
    """Whether a method of a class takes an object (None where the class is not seen), and how an object is made of it."""
    found = definition_at(name, context, trace.own_sources)
    if found is None or not isinstance(found.node, ast.ClassDef):
        return None, None
    methods = {node.name: node for node in found.node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    if method not in methods:
        return None, None
    takes_object = not methods[method].decorator_list and parameters(methods[method])[:1] == ["self"]
    begin = methods.get("__init__")
    needs = needs_arguments(begin) if begin is not None else bool(found.node.decorator_list)  # as of a dataclass
    return takes_object, _made(ast.Name(name), needs=needs)


def _made(holder: ast.expr, *, needs: bool = False) -> ast.Call:
    return ast.Call(holder, [ast.Constant(...)] if needs else [], [])


def _taken(holder: ast.expr, owner: str, made: ast.Call, context: NameContext) -> tuple[str, str] | None:
    """The place that gives the class itself to what a method was called on, and the statement that would give an object."""
    for number, step in enumerate(own_flow.way(holder, context)):
        if step.each:
            return None
        place = file_line(step.context.source.path, getattr(step.value, "lineno", 0))
        if number and isinstance(step.value, ast.Name) and step.value.id == owner:
            code = _replaced(step.value, made, step.context)
            return (place, code) if code else None
        if (table := _table(step.value)) is not None:
            entries = own_flow.way(table, step.context)[-1].value
            values = entries.values if isinstance(entries, ast.Dict) else []
            if any(isinstance(one, ast.Name) and one.id == owner for one in values):
                place = file_line(step.context.source.path, step.value.lineno)
                return place, ast.unparse(ast.Call(step.value, made.args, []))[:LONG]
    return None


def _table(value: ast.expr) -> ast.expr | None:
    """The dictionary that a value was asked of: ``TABLE[key]``, ``TABLE.get(key)``."""
    if isinstance(value, ast.Subscript):
        return value.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("get", "pop"):
        return value.func.value
    return None


def _replaced(name: ast.Name, made: ast.Call, context: NameContext) -> str:
    """The statement of a name with something else in its place; "" where it is too long to be shown."""
    statement = statement_at(context._replace(line=name.lineno))
    if statement is None:
        return ""
    text = ast.unparse(_Replacing(name, made).visit(copy.deepcopy(statement)))
    return text if len(text) <= LONG and "\n" not in text else ""


class _Replacing(ast.NodeTransformer):
    def __init__(self, name: ast.Name, made: ast.Call) -> None:
        self._at = (name.lineno, name.col_offset)
        self._made = made

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._made if (node.lineno, node.col_offset) == self._at else node
