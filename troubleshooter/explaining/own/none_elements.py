"""A list of tensors with a None among them, which a line of the user's own joins: ``torch.cat([past, new])`` before there is a past."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called, nodes_of
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"^expected Tensor as element (?P<n>\d{1,9}) in argument 0, but got NoneType$")
_JOINS = ("cat", "concat", "concatenate", "hstack", "vstack", "dstack")
_ALL = (*_JOINS, "stack")
LONG = 160
"""Characters of a suggestion; a longer one is left out."""


def amended(found: FoundPlace, failure: Failure, trace: Trace) -> FoundPlace:
    """The explanation that leaves out what is None; the same where the line does not show what it joins."""
    said = _MESSAGE.match(failure.message) if failure.type == "TypeError" else None
    for nodes in nodes_of(trace.frames[-1]) if said is not None else ():
        calls = [one for one in nodes if isinstance(one, ast.Call) and called(one).rpartition(".")[2] in _ALL]
        if len(calls) == 1 and calls[0].args and said is not None:
            found.origins, remedy = _told(found.origins, calls[0], int(said["n"]))
            found.remedies = [*([remedy] if len(remedy.code or "") <= LONG else []), *found.remedies]
            break
    return found


def _told(origins: list[Origin], call: ast.Call, number: int) -> tuple[list[Origin], Remedy]:
    rows = call.args[0]
    parts = rows.elts if isinstance(rows, (ast.List, ast.Tuple)) else []
    if any(isinstance(one, ast.Starred) for one in parts) or number >= len(parts):
        parts = []
    if parts:
        origins = [Origin(ast.unparse(parts[number]), "data"), *origins]
    if len(parts) == 2 and called(call).rpartition(".")[2] in _JOINS:
        here, other = ast.unparse(parts[number]), ast.unparse(parts[1 - number])
        text = f"{ast.unparse(call)} if {here} is not None else {other}"
        return origins, Remedy("none-join", (("x", text),), text, "rule")
    name = ast.Name("one")
    given = ast.comprehension(name, rows, [ast.Compare(name, [ast.IsNot()], [ast.Constant(None)])], 0)
    kept = ast.Call(call.func, [ast.ListComp(name, [given]), *call.args[1:]], call.keywords)
    text = ast.unparse(kept)
    return origins, Remedy("none-out", (("x", text),), text, "rule")
