"""A field of a row that a writer of CSV was not told of: a column that only later rows have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy, literal
from troubleshooter.explaining.source.calls import passed
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"^dict contains fields not in fieldnames: (?P<x>['\"][^\n]{1,300})$")
_IGNORED = 'extrasaction="ignore"'
LONG = 160
"""Characters of a suggestion; of a longer one only the new names are shown."""


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names the field; the same for another message."""
    said = _MESSAGE.match(failure.message) if failure.type == "ValueError" else None
    names = literal(f"[{said['x']}]") if said is not None else None
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        return found
    several = {ast.unparse(one): one for one in _told(trace)}
    told = next(iter(several.values())) if len(several) == 1 else None
    shown = ast.unparse(told) if told is not None else None
    text = f"fieldnames={_with(told, names)}"
    text = text if len(text) <= LONG else f"fieldnames={_with(None, names)}"
    listed = ", ".join(f"`{one}`" for one in names)
    found = found or FoundPlace(None, "", [], [], "rule")
    found.condition = say("fields-more", lang, x=listed)
    mine = Origin("fieldnames", "argument", "DictWriter", shown, True if shown else None)
    found.origins = [*(Origin(one, "data") for one in names), mine]
    found.remedies = [
        Remedy("fields-add", (("x", text), ("y", listed)), text, "rule"),
        Remedy("fields-ignore", (("x", _IGNORED),), _IGNORED, "rule"),
    ]
    return found


def _told(trace: Trace) -> Iterator[ast.expr]:
    """What the user's own files give writers as names of the columns."""
    for source in trace.own_sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and called(node).rpartition(".")[2] == "DictWriter":
                given = passed(node, "fieldnames", 1)
                if isinstance(given, ast.expr):
                    yield given


def _with(told: ast.expr | None, names: list[str]) -> str:
    """The names of the columns with more of them."""
    more: list[ast.expr] = [ast.Constant(one) for one in names]
    if told is None:
        return ast.unparse(ast.List([ast.Constant(...), *more]))
    if isinstance(told, (ast.List, ast.Tuple)):
        return ast.unparse(ast.List([*told.elts, *more]))
    if isinstance(told, ast.Call) and called(told) in ("list", "tuple") and len(told.args) == 1:
        told = told.args[0]
    if isinstance(told, ast.Call) and called(told) == "keys" and isinstance(told.func, ast.Attribute):
        told = told.func.value
    return ast.unparse(ast.List([ast.Starred(told), *more]))
