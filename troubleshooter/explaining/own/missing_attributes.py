"""A `__getattr__` of the user's own that reads an attribute which the object does not have yet, and so calls itself without end."""

from __future__ import annotations

import ast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.statements import statement_at
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_ASKS_BASE = "return super().__getattr__({})"


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names the attribute; None for another recursion, or where the line reads several."""
    context = trace.context(len(trace.frames) - 1)
    if failure.type != "RecursionError" or context is None or context.function is None:
        return None
    function, names = context.function, parameters(context.function)
    statement = statement_at(context)
    if function.name != "__getattr__" or len(names) != 2 or statement is None or context.owner is None:
        return None
    own = {item.name for item in context.owner.body if isinstance(item, (ast.FunctionDef, ast.ClassDef))}
    read = {
        node.attr
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == names[0] and not node.attr.startswith("__")
    } - own
    if len(read) != 1:
        return None
    [name], asked = read, names[1]
    bases = [ast.unparse(base) for base in context.owner.bases]
    # A base class may keep its attributes elsewhere, as torch's modules do.
    has_base = bases not in ([], ["object"])
    otherwise = _ASKS_BASE.format(asked) if has_base else f"raise AttributeError({asked})"
    text = f"if {asked} == {name!r}: {otherwise}"
    found.condition = say("getattr-own", lang, x=f"{names[0]}.{name}", c=context.owner.name)
    found.origins = [Origin(f"{names[0]}.{name}", "data")]
    found.remedies = [Remedy("getattr-first", (("x", text),), text, "rule")]
    return found
