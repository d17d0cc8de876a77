"""A tuple that a function of the user's own gave and that is passed to it again: ``x = block(x)`` where ``forward`` returns a pair."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction
from troubleshooter.explaining.source.shown import code, parsed
from troubleshooter.explaining.source.statements import in_loop
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"'tuple' object|must be Tensor, not tuple|'tuple' and|and 'tuple'")


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the line that takes the whole tuple; None where the tuple is none that this function gave."""
    context = trace.context(trace.own[-1]) if trace.own and found.origins else None
    if context is None or context.function is None or _MESSAGE.search(failure.message) is None:
        return None
    name = found.origins[0].name
    given = _returned(OwnFunction(context.function, context.owner, context.source))
    if name not in parameters(context.function) or given is None:
        return None
    for at in reversed(trace.own[:-1]):
        frame, caller = trace.frames[at], trace.context(at)
        scope = (caller.function or caller.source.tree) if caller is not None else None
        again = _passed_again(parsed(code(frame))) if scope is not None and in_loop(scope, frame.line) else None
        if again is not None:
            target, text = again
            place = file_line(frame.path, frame.line)
            fixed = f"{target}, {'_' if len(given.elts) == 2 else '*_'} = {text}"
            told = {"x": context.function.name, "y": ast.unparse(given), "place": place}
            found.condition = say("fed-back", lang, told=found.condition, **told)
            found.origins = [Origin(target, "data", "", text, True, place=place), *found.origins]
            found.remedies = [Remedy("fed-back-part", (("x", fixed), ("y", place)), fixed, "rule"), *found.remedies]
            return found
    return None


def _returned(function: OwnFunction) -> ast.Tuple | None:
    """The tuple that a function returns in the end; None where it may return another thing, or one with another number of parts."""
    values = [one.value for one in function.returned]
    tuples = [one for one in values if isinstance(one, ast.Tuple)]
    is_one = len(tuples) == len(values) and len({len(one.elts) for one in tuples}) == 1
    return tuples[-1] if is_one and len(tuples[-1].elts) > 1 else None


def _passed_again(tree: ast.Module | None) -> tuple[str, str] | None:
    """The name and the call of a line ``x = f(x)``."""
    statement = tree.body[0] if tree is not None and len(tree.body) == 1 else None
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return None
    [target, *others] = statement.targets
    passed = [one.id for one in statement.value.args if isinstance(one, ast.Name)]
    if others or not isinstance(target, ast.Name) or target.id not in passed[:1]:
        return None
    return target.id, ast.unparse(statement.value)
