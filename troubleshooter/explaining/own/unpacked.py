"""A dictionary that is unpacked into names, so that each name has a key: ``for ids, labels in loader``."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.python import tensor_parts
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.bindings import GivenName, binding_of
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_data import written_keys
from troubleshooter.explaining.source.own_functions import functions_of
from troubleshooter.explaining.source.shown import called
from troubleshooter.explaining.source.sources import SourceFile
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"^'str' object has no attribute '(?P<a>\w{1,80})'")
_OF_BATCHES = (
    "input_ids",
    "attention_mask",
    "token_type_ids",
    "labels",
    "pixel_values",
    "input_features",
    "position_ids",
)
"""Keys that dictionaries of a batch have everywhere."""
_OTHERWISE = ("items", "zip", "split", "partition", "rpartition", "rsplit", "most_common", "groupby")
"""What gives pairs, none of which is a dictionary."""


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names the keys; None where it cannot be seen that the names are those of a dictionary's entries."""
    said = _MESSAGE.match(failure.message)
    context = trace.context(len(trace.frames) - 1)
    if said is None or said["a"] not in tensor_parts.ATTRIBUTES or context is None or not found.origins:
        return None
    name = found.origins[0].name
    given = binding_of(name, context) if name.isidentifier() else None
    if given is None:
        return None
    target, value = _unpacking(given)
    if not isinstance(target, ast.Tuple) or not all(isinstance(one, ast.Name) for one in target.elts):
        return None
    if isinstance(value, ast.Call) and called(value) in _OTHERWISE:
        return None
    names = [ast.unparse(one) for one in target.elts]
    keys = _keys(names, context.source)
    if not keys:
        return None
    if _has_tuples(own_flow.way(value, context)[-1].value):
        return None
    holder, before = _held(given, value)
    each = [f"{holder}[{_quoted(key)}]" for key in keys]
    text = f"{', '.join(names)} = {', '.join(each)}"
    place = file_line(context.source.path, value.lineno)
    whole = "unpacked" if isinstance(given.statement, ast.Assign) else "unpacked-each"
    found.condition = say(whole, lang, told=found.condition, place=place, x=ast.unparse(value))
    at = names.index(name)
    found.origins = [Origin(name, "data", "", repr(keys[at]), True, place=place), *found.origins[1:]]
    key = "unpacked-first" if before else "unpacked-keys"
    found.remedies = [Remedy(key, (("x", text), ("y", before)), each[at], "rule")]
    return found


def _held(given: GivenName, value: ast.expr) -> tuple[str, str]:
    """A name of the whole dictionary, and the line that gives it: a new one where it has none yet."""
    if isinstance(given.statement, ast.Assign) and isinstance(value, (ast.Name, ast.Attribute)):
        return ast.unparse(value), ""
    bound = {node.id for node in ast.walk(given.scope) if isinstance(node, ast.Name)}
    holder = next((one for one in ("batch", "row", "item") if one not in bound), "entries")
    if isinstance(given.statement, ast.Assign):
        return holder, f"{holder} = {ast.unparse(value)}"
    is_counted = value is not given.value and isinstance(given.target, ast.Tuple)
    number = f"{ast.unparse(given.target.elts[0])}, " if is_counted and isinstance(given.target, ast.Tuple) else ""
    return holder, f"for {number}{holder} in {ast.unparse(given.value)}:"


def _has_tuples(value: ast.expr) -> bool:
    """Whether what is unpacked, or gone through, is written as tuples or as a list of them."""
    parts = (
        value.elts
        if isinstance(value, (ast.List, ast.Tuple))
        else [value.elt]
        if isinstance(value, ast.ListComp)
        else []
    )
    return isinstance(value, ast.Tuple) or any(isinstance(one, (ast.Tuple, ast.List)) for one in parts)


def _unpacking(given: GivenName) -> tuple[ast.expr, ast.expr]:
    """The names, and what is unpacked into them: with ``enumerate`` the second part of the names."""
    target, value = given.target, given.value
    if isinstance(value, ast.Call) and called(value) == "enumerate" and value.args:
        inner = target.elts[1] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else target
        return inner, value.args[0]
    return target, value


def _keys(names: list[str], source: SourceFile) -> list[str]:
    """The key of each name: the same, if dictionaries of the file have it; else those of the one kind of row that the file makes."""
    written = {key for key, _ in written_keys(source.tree)}
    if all(name in written or name in _OF_BATCHES for name in names):
        return names
    rows = [
        [key for key, _ in written_keys(ast.Expr(node.value))]
        for one in functions_of(source)
        if one.name == "__getitem__"
        for node in one.returned
        if isinstance(node.value, ast.Dict)
    ]
    return rows[0] if len(rows) == 1 and len(rows[0]) == len(names) else []


def _quoted(key: str) -> str:
    return f'"{key}"' if '"' not in key else repr(key)
