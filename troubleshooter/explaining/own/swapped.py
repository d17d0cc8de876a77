"""Results that are taken in another order than that of the arguments: ``a, c, b = prepare(a, b, c)``."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.bindings import binding_of
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_OF_CLASS = lazy.compile(r"'[\w.]{1,80}' object (?:is not|has no|does not|cannot)")


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names the line; None where the names stand in one order, or are others."""
    context = trace.context(len(trace.frames) - 1)
    if context is None or failure.type not in ("TypeError", "AttributeError") or not _OF_CLASS.search(failure.message):
        return None
    for name in dict.fromkeys(one.name for one in found.origins):
        given = binding_of(name, context) if name.isidentifier() else None
        if given is None or not isinstance(given.statement, ast.Assign) or not isinstance(given.target, ast.Tuple):
            continue
        call = given.value
        if not isinstance(call, ast.Call):
            continue
        function = own_flow.called_function(call, context)
        taken, passed = [ast.unparse(one) for one in given.target.elts], _order(call, function)
        if taken == passed or sorted(taken) != sorted(passed) or taken.index(name) == passed.index(name):
            continue
        place = file_line(context.source.path, given.statement.lineno)
        text = f"{', '.join(passed)} = {ast.unparse(call)}"
        own = "" if function is None else "-own"
        found.condition = say(
            f"swapped{own}",
            lang,
            told=found.condition,
            place=place,
            x=", ".join(taken),
            y=", ".join(passed),
            f=ast.unparse(call.func),
        )
        result = Origin(name, "data", "", f"{ast.unparse(call)}[{taken.index(name)}]", True, place=place)
        found.origins = [result, *(one for one in found.origins if one.name != name)]
        found.remedies = [Remedy(f"swapped-order{own}", (("x", text),), text, "rule")]
        return found
    return None


def _order(call: ast.Call, function: OwnFunction | None) -> list[str]:
    """The names whose values a call gives back: what it passes, or what the user's own function returns."""
    if function is None:
        return [] if call.keywords else [ast.unparse(one) for one in call.args]
    given = [node.value for node in function.returned]
    if len(given) != 1:
        return []
    if isinstance(given[0], ast.Call) and not given[0].keywords:
        return [ast.unparse(one) for one in given[0].args]
    return [ast.unparse(one) for one in given[0].elts] if isinstance(given[0], ast.Tuple) else []
