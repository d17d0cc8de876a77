"""An argument that a loop of the user's own counts: ``data.shard(4, index=n)`` with ``n`` in ``range(1, 5)`` fails in the last round.

A constant in its place would be the same in every round, so none is suggested.
"""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import set_to
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.bindings import binding_of
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called
from troubleshooter.observe.model import Failure


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation without constants for a counted argument; where the loop counts from 1 and 0 is allowed, with one less."""
    context = trace.context(trace.own[-1]) if found is not None and trace.own else None
    if found is None or context is None:
        return found
    for origin in found.origins:
        loop = _loop(origin.value or "", context)
        constants = [one for one in found.remedies if _is_constant(one) and one.subject == origin.name]
        if loop is None or not constants:
            continue
        kept = [one for one in found.remedies if one not in constants]
        is_one_less = _begin(loop) == 1 and any(one.value == 0 for one in constants)
        found.remedies = [set_to(origin, f"{origin.value} - 1"), *kept] if is_one_less else kept
    return found


def _is_constant(remedy: Remedy) -> bool:
    return remedy.key == "do-set" and isinstance(remedy.value, int)


def _loop(name: str, context: NameContext) -> ast.Call | None:
    """The ``range`` that counts a name; None where another thing gives it its value."""
    given = binding_of(name, context) if name.isidentifier() else None
    if given is None or isinstance(given.statement, ast.Assign) or not isinstance(given.target, ast.Name):
        return None
    return given.value if isinstance(given.value, ast.Call) and called(given.value) == "range" else None


def _begin(loop: ast.Call) -> object:
    """The number with which a ``range`` begins; None where it is no constant."""
    if len(loop.args) == 1:
        return 0
    return loop.args[0].value if loop.args and isinstance(loop.args[0], ast.Constant) else None
