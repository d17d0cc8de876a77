"""An iterator over a loader that ends before the loop that asks it for items: ``rows = iter(loader)``, and ``next(rows)`` in a loop."""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called, nodes_of
from troubleshooter.explaining.source.statements import in_loop
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_AGAIN = "{} = (row for _ in itertools.count() for row in {})"


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with an iterator that begins again; None where the line is in no loop, or where ``iter`` did not make it."""
    context = trace.context(len(trace.frames) - 1)
    if (
        context is None
        or failure.type != "StopIteration"
        or not in_loop(context.function or context.source.tree, context.line)
    ):
        return None
    asked = {
        ast.unparse(node.args[0]): node.args[0]
        for nodes in nodes_of(trace.frames[-1])
        for node in nodes
        if isinstance(node, ast.Call) and called(node) == "next" and len(node.args) == 1
    }
    if len(asked) != 1:
        return None
    [(name, iterator)] = asked.items()
    made = own_flow.before(iterator, context)
    if made is None or made.each or not isinstance(made.value, ast.Call):
        return None
    if called(made.value) != "iter" or len(made.value.args) != 1:
        return None
    rows = ast.unparse(made.value.args[0])
    text = _AGAIN.format(name, rows)
    found.condition = say("used-up", lang, told=found.condition, x=rows, line=made.value.lineno)
    found.remedies = [Remedy("used-up-again", (("x", text),), text, "rule"), *found.remedies]
    return found
