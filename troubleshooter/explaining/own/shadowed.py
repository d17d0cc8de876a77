"""A name of a function that the user's own file has given to something else: ``loss = loss(outputs, labels)`` in a loop."""

from __future__ import annotations

import ast
import builtins

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.names import NameContext, binds, given_values, parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called, nodes_of
from troubleshooter.explaining.source.statements import in_loop
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"^'(?P<t>[\w.]{1,80})' object is not callable")
_END = 10**9


def explain(failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the line that took the name; None where no name of the line, or several, were given something else."""
    said = _MESSAGE.match(failure.message) if failure.type == "TypeError" else None
    context = trace.context(len(trace.frames) - 1) if said is not None else None
    if said is None or context is None:
        return None
    taken = {name: value for name in _called(trace) if (value := _other_value(name, context)) is not None}
    if len(taken) != 1:
        return None
    [(name, value)] = taken.items()
    condition = say("name-taken", lang, x=name, line=value.lineno, t=said["t"])
    fix = Remedy("name-other", (("x", name), ("y", str(value.lineno))), None, "rule")
    return FoundPlace(trace.frames[-1], condition, [Origin(name, "data")], [fix], "rule")


def _called(trace: Trace) -> list[str]:
    for nodes in nodes_of(trace.frames[-1]):
        names = [node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        if names:
            return list(dict.fromkeys(names))
    return []


def _other_value(name: str, context: NameContext) -> ast.expr | None:
    """What a file gives a name that is no function; None where a function of its own has the name, or nothing is given.

    In a loop also what stands below the line counts: the loop comes round again.
    """
    function = context.function
    scope = function if function is not None and binds(function, name) else context.source.tree
    if function is not None and scope is function and name in parameters(function) and not in_loop(scope, context.line):
        return None
    inside = isinstance(scope, ast.Module) and function is not None
    values = given_values(name, scope, _END if inside or in_loop(scope, context.line) else context.line)
    taken = values[0] if values else None
    return taken if taken is not None and _was_function(name, taken, context.source.tree) else None


def _was_function(name: str, value: ast.expr, tree: ast.Module) -> bool:
    """Whether a name is that of a function elsewhere: of Python, of the file, or in the very value that took it."""
    if hasattr(builtins, name) or any(isinstance(one, ast.Call) and called(one) == name for one in ast.walk(value)):
        return True
    return any(
        (isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name)
        or (
            isinstance(node, (ast.Import, ast.ImportFrom))
            and any((one.asname or one.name) == name for one in node.names)
        )
        for node in ast.walk(tree)
    )
