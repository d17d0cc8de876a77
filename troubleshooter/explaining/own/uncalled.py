"""A method or a function that the user's own line passes on without calling it: ``tokenizer.pad_id`` for ``tokenizer.pad_id()``.

The message tells that a method stood where a value was needed; the line shows which part of it can have been one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.calls import passed
from troubleshooter.explaining.source.names import needs_arguments
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction, functions_of
from troubleshooter.explaining.source.own_imports import definition_at, modules_of
from troubleshooter.explaining.source.shown import called, code, gone_through, marked, parsed
from troubleshooter.explaining.source.sources import Function
from troubleshooter.explaining.source.statements import statement_at
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_KIND = r"(?P<{}>builtin_function_or_method|method-wrapper|method|function)"
_MESSAGE = lazy.compile(
    rf"(?:\bnot |\bgot |\bpassed to |\btype |\bof )'?{_KIND.format('a')}\b|'{_KIND.format('b')}'|\b{_KIND.format('c')} found"
)
_ARGUMENT = lazy.compile(r"argument '(?P<x>\w{1,60})' \(position (?P<n>\d{1,3})\) must be ")
_FORMAT = lazy.compile(r"^unsupported format string passed to ")
_GIVE_A_VALUE = frozenset(
    (
        "parameters", "named_parameters", "state_dict", "item", "tolist", "keys", "values", "items", "size", "dim", "numel", "mean", "sum",
        "max", "min", "float", "long", "int", "detach", "cpu", "numpy", "strip", "lower", "upper", "split", "splitlines", "copy", "get_vocab", "get_last_lr",
    )
)  # fmt: skip
"""Methods of everybody's objects that are called for a value, and need no argument."""
_TAKE_FIRST = frozenset((
    "map", "filter", "partial", "apply", "submit", "imap", "starmap", "register_hook", "to_thread", "apply_async", "map_async", "imap_unordered",
    "vmap", "compile",
))  # fmt: skip
"""Functions whose first argument is a function."""
_TAKE_ANY = frozenset(("min", "max", "sorted", "run_in_executor", "LambdaLR"))
"""Functions that take a function in another place, or that people forget to name by `key`."""
_OF_FUNCTIONS = (
    "fn",
    "func",
    "function",
    "key",
    "callback",
    "hook",
    "target",
    "factory",
    "initializer",
    "type",
    "metrics",
)
"""How names of arguments end that take a function."""
MAX_VALUES = 40
"""Values of a statement that are looked at."""
_MODULES = frozenset(("torch", "nn", "F", "np", "math", "os", "sys", "random", "time", "json", "pd", "re"))


def explain(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names the call that lacks; None where the line does not show which one it is."""
    said = _MESSAGE.search(failure.message) if failure.type == "TypeError" else None
    if said is None or not trace.own or any(one.key == "day-call" for one in (found.remedies if found else ())):
        return None
    kind, at = said["a"] or said["b"] or said["c"], trace.own[-1]
    if code(trace.frames[at]).startswith(("raise", "assert")):
        return None  # a check of the user's own made the message
    is_mine = at == len(trace.frames) - 1
    several = [*_candidates(failure.message, kind, at, trace)] or [*_stored(kind, at, trace)]
    known = [one for one in several if _is_known(one, trace)]
    is_told = _ARGUMENT.search(failure.message) is not None  # the message names the argument
    is_open = len({ast.unparse(one) for one in several}) > 1 or not is_mine
    chosen = known if is_open and not is_told else several
    if len({ast.unparse(one) for one in chosen}) != 1:
        return None
    name = ast.unparse(chosen[0])
    text = f"{name}({'...' if _needs_more(chosen[0], trace) else ''})"
    found = found or FoundPlace(trace.frames[at], "", [], [], "rule")
    found.condition = say("call-lacks", lang, x=name, t=kind)
    found.origins = [Origin(name, "data"), *(one for one in found.origins if one.name != name)]
    found.remedies = [Remedy("day-call", (("x", text),), text, "rule")]
    return found


def _candidates(message: str, kind: str, at: int, trace: Trace) -> Iterator[ast.expr]:
    """The parts of a line that may be a method or a function, and stand where a value does."""
    frame, context = trace.frames[at], trace.context(at)
    whole = statement_at(context) if context is not None else parsed(code(frame))
    argument = _ARGUMENT.search(message)
    for tree in (parsed(marked(frame)), whole):
        nodes = list(ast.walk(tree)) if tree is not None else []
        if argument is not None:
            calls = [
                one for one in nodes if isinstance(one, ast.Call) and f"{called(one).rpartition('.')[2]}()" in message
            ]
            given = [passed(one, argument["x"], int(argument["n"]) - 1) for one in calls]
            values = [one for one in given if isinstance(one, ast.expr)]
        elif _FORMAT.match(message) is not None:
            values = [one.value for one in nodes if isinstance(one, ast.FormattedValue) and one.format_spec is not None]
        else:
            values = [value for node in nodes for value in _values(node)]
        mine = [one for one in values[:MAX_VALUES] if _may_be(one, kind, trace)]
        if mine:
            yield from mine
            return


def _stored(kind: str, at: int, trace: Trace) -> Iterator[ast.expr]:
    """The known methods in a dictionary or a list that the line passes on by its name."""
    context = trace.context(at)
    statement = statement_at(context) if context is not None else None
    for node in ast.walk(statement) if statement is not None and context is not None else ():
        for value in _values(node):
            made = own_flow.way(value, context)[-1] if isinstance(value, ast.Name) and context is not None else None
            if made is not None and not made.each and isinstance(made.value, (ast.Dict, ast.List, ast.Tuple)):
                parts = [part for part in [*_values(made.value)][:MAX_VALUES] if _may_be(part, kind, trace)]
                yield from (part for part in parts if _is_known(part, trace))


def _values(node: ast.AST) -> Iterator[ast.expr]:
    """What stands as a value in a part of a line, not where a function is wanted."""
    if isinstance(node, ast.Call):
        name = called(node).rpartition(".")[2]
        yield from () if name in _TAKE_ANY else node.args[name in _TAKE_FIRST :]
        yield from (one.value for one in node.keywords if not (one.arg or "").endswith(_OF_FUNCTIONS))
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)) and not isinstance(getattr(node, "ctx", None), ast.Store):
        yield from node.elts
    elif isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, (ast.FormattedValue, ast.Starred)):
        yield node.value
    elif isinstance(node, ast.Subscript):
        yield from (node.value, node.slice)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from gone_through(node.iter)


def _may_be(value: ast.expr, kind: str, trace: Trace) -> bool:
    if isinstance(value, ast.Name):
        return (kind == "function" and _function(value, trace) is not None) or _is_kept(value, trace)
    if not isinstance(value, ast.Attribute) or value.attr.startswith("__"):
        return False
    root: ast.expr = value
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and (root.id in _MODULES or root.id in modules_of(*trace.own_sources)):
        return False
    methods = _methods(value.attr, trace)
    return not methods or not any(one.function.decorator_list for one in methods)


def _is_known(value: ast.expr, trace: Trace) -> bool:
    """Whether it is known that a part of the line is a method or a function that gives a value."""
    if isinstance(value, ast.Name):
        return True
    is_named = isinstance(value, ast.Attribute) and (value.attr in _GIVE_A_VALUE or bool(_methods(value.attr, trace)))
    return is_named or _is_kept(value, trace)


def _is_kept(value: ast.expr, trace: Trace) -> bool:
    """Whether the user's files give a name nothing but a known method: ``self.weights = model.parameters``."""
    name = ast.unparse(value)
    given = [
        node.value
        for source in trace.own_sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets)
    ]
    return bool(given) and all(isinstance(one, ast.Attribute) and one.attr in _GIVE_A_VALUE for one in given)


def _methods(name: str, trace: Trace) -> list[OwnFunction]:
    several = [one for source in trace.own_sources for one in functions_of(source)]
    return [one for one in several if one.name == name and one.owner is not None]


def _function(name: ast.Name, trace: Trace) -> Function | None:
    """The user's own function that a name stands for in the line."""
    context = trace.context(trace.own[-1])
    found = definition_at(name.id, context, trace.own_sources) if context is not None else None
    return found.node if found is not None and not isinstance(found.node, ast.ClassDef) else None


def _needs_more(value: ast.expr, trace: Trace) -> bool:
    """Whether a function needs arguments."""
    methods = _methods(value.attr, trace) if isinstance(value, ast.Attribute) else []
    function = methods[0].function if methods else _function(value, trace) if isinstance(value, ast.Name) else None
    return function is not None and needs_arguments(function)
