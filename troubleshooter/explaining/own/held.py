"""A dictionary of the user's own whose entries have to be of one class, and the entry that is not.

Compiled code names the argument, the class of one entry and the class that it needs: "argument 'metadata': 'int' object is not an instance of 'str'".
"""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.own.own_values import function_of
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.calls import calls_at
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import class_of_value
from troubleshooter.explaining.source.shown import calls, code
from troubleshooter.explaining.words import say

_ENTRY = lazy.compile(
    r"^argument '(?P<x>\w{1,60})': '(?P<t>str|int|float|bool|list|dict|tuple)' object (?:is not an instance of|cannot be (?:converted to|cast as)) '(?:Py)?(?P<u>str|int|float|[Ss]tring)'$"
)
LONG = 80
"""Characters of a value that is shown."""


def explained(found: FoundPlace | None, message: str, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that names the entry; None where the message is another one, or no dictionary is seen."""
    said = _ENTRY.match(message)
    if said is None:
        return None
    name, kind, wanted = said["x"], said["t"], "str" if said["u"].lower() == "string" else said["u"]
    entries = _entries(name, trace)
    certain = [key for key, value, _ in entries if class_of_value(value) == kind]
    wrong = list(dict.fromkeys(certain or [key for key, value, _ in entries if not class_of_value(value)]))
    if not wrong:
        return None
    if len(wrong) > 1:
        holder = next(holder for _, _, holder in entries) or name
        made = _all(holder, wanted, kind)
        origin = Origin(name, "argument", "", holder, True)
        fix = Remedy("held-each", (("x", name), ("y", wanted)), f"{name}={made}", "message")
    else:
        [value, holder] = [(value, holder) for key, value, holder in entries if key == wrong[0]][-1]
        shown = ast.unparse(value)[:LONG]
        is_set = bool(holder) and [key for key, _, _ in entries].count(wrong[0]) > 1
        made = _as(wanted, kind, shown)
        code_ = f"{holder}[{wrong[0]!r}] = {made}" if is_set else f"{wrong[0]!r}: {made}"
        origin = Origin(f"{name}[{wrong[0]!r}]", "argument", "", shown, True)
        fix = Remedy("held-one", (("x", wrong[0]), ("y", wanted)), code_, "message")
    found = found or FoundPlace(None, "", [], [], "rule")
    found.condition = say("held-class", lang, x=", ".join(f"`{one}`" for one in wrong), d=name, t=kind, u=wanted)
    found.origins = [origin, *(one for one in found.origins if one.name != name)]
    found.remedies = [fix]
    return found


def _all(holder: str, wanted: str, kind: str) -> str:
    """The source that makes each value of a dictionary one of the wanted class."""
    return f"{{key: {_as(wanted, kind, 'value')} for key, value in {holder}.items()}}"


def _as(wanted: str, kind: str, value: str) -> str:
    """A value as one of another class."""
    return f"json.dumps({value})" if wanted == "str" and kind in ("list", "dict", "tuple") else f"{wanted}({value})"


def _entries(name: str, trace: Trace) -> list[tuple[str, ast.expr, str]]:
    """The entries of the dictionary that the innermost line of the user's own passes for an argument."""
    for at in reversed(trace.own):
        frame, tree = trace.frames[at], trace.own_code.tree(at)
        for call in calls_at(tree, frame.line) if tree is not None else calls(code(frame)):
            function = function_of(call, trace) if call.args else None
            names = parameters(function) if function is not None else []
            given = [one.value for one in call.keywords if one.arg == name]
            given += [value for one, value in zip(names, call.args, strict=False) if one == name]
            if given:
                return trace.own_code.entries(given[0], at)
    return []
