"""A row number past the end, which a library asks the user's own ``__getitem__`` for.

Either ``__len__`` tells more rows than there are, or a sampler of the user's own counts too far.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.own.past_the_end import counted_on
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source import own_flow
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import NameContext, parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import OwnFunction
from troubleshooter.explaining.source.shown import called, nodes_of
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_LENGTH = "return len({})"
_PAST_END = ("out of range", "out of bounds", "out-of-bounds")


class AskedRows(NamedTuple):
    """What ``__getitem__`` asks for rows, and how many rows beyond the number that it was given."""

    holder: ast.expr
    more: int


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the length or the sampler at fault; None where neither is seen to be."""
    context = trace.context(len(trace.frames) - 1)
    if context is None or failure.type != "IndexError" or not any(one in failure.message for one in _PAST_END):
        return None
    function, owner = context.function, context.owner
    if function is None or owner is None or function.name != "__getitem__":
        return None
    number = parameters(function)[1:2]
    rows = _asked(trace, number[0]) if number else None
    lengths = own_flow.functions_named("__len__", context.source, owner)
    if rows is None or len(lengths) != 1 or not own_flow.is_called_by_library(function, trace):
        return None
    returned = [one.value for one in lengths[0].returned if one.value is not None]
    if len(returned) != 1:
        return None
    if _is_length(returned[0], lengths[0], rows, context):
        return _of_sampler(found, rows, owner, context, number[0], trace, lang)
    holder = ast.unparse(rows.holder)
    text = _LENGTH.format(holder) + (f" - {rows.more}" if rows.more else "")
    place = file_line(context.source.path, returned[0].lineno)
    found.condition = say("rows-length", lang, told=found.condition, x=ast.unparse(returned[0]), y=holder, place=place)
    found.origins = [Origin("__len__", "data"), Origin(holder, "data")]
    found.remedies = [Remedy("rows-return", (("x", text),), text, "rule"), *found.remedies]
    return found


def _asked(trace: Trace, number: str) -> AskedRows | None:
    """The one part of the line that asks something for the row of the number."""
    for nodes in nodes_of(trace.frames[-1]):
        found = {
            ast.unparse(node): AskedRows(_rows(node.value), counted[1])
            for node in nodes
            if isinstance(node, ast.Subscript)
            and (counted := counted_on(node.slice)) is not None
            and counted[0] == number
        }
        if len(found) == 1:
            return next(iter(found.values()))
    return None


def _rows(value: ast.expr) -> ast.expr:
    """The table itself of ``table.iloc``."""
    return value.value if isinstance(value, ast.Attribute) and value.attr == "iloc" else value


def _is_length(told: ast.expr, length: OwnFunction, rows: AskedRows, context: NameContext) -> bool:
    """Whether ``__len__`` tells the number of the very rows that are asked for, or something that cannot be followed."""
    inside = NameContext(length.source, length.owner, length.function, told.lineno, None)
    steps = [one.value for one in own_flow.way(told, inside)]
    holders = {ast.unparse(one.value) for one in own_flow.way(rows.holder, context)}
    less = f" - {rows.more}" if rows.more else ""
    if any(ast.unparse(one) == f"len({holder}){less}" for one in steps for holder in holders):
        return True
    return not any(called(node) == "len" for node in ast.walk(steps[-1]) if isinstance(node, ast.Call))


def _of_sampler(
    found: FoundPlace,
    rows: AskedRows,
    owner: ast.ClassDef,
    context: NameContext,
    number: str,
    trace: Trace,
    lang: str,
) -> FoundPlace | None:
    samplers = [
        node
        for node in context.source.tree.body
        if isinstance(node, ast.ClassDef)
        and node is not owner
        and any(ast.unparse(base).endswith("Sampler") for base in node.bases)
    ]
    too_far = [(one, *counted) for one in samplers for counted in _counts_too_far(one)]
    if not too_far:
        return _of_loader(found, rows, trace, number, lang)
    if len(too_far) != 1:
        return None
    sampler, node, text = too_far[0]
    place = file_line(context.source.path, node.lineno)
    holder = ast.unparse(rows.holder)
    found.condition = say(
        "rows-sampler", lang, told=found.condition, x=sampler.name, y=ast.unparse(node), n=number, place=place
    )
    found.origins = [Origin(sampler.name, "data"), Origin(holder, "data")]
    found.remedies = [Remedy("rows-count", (("x", text),), text, "rule"), *found.remedies]
    return found


def _of_loader(found: FoundPlace, rows: AskedRows, trace: Trace, number: str, lang: str) -> FoundPlace | None:
    """A sampler that a loader in a file of the user's own is given, which was made for other rows."""
    given = {
        ast.unparse(word.value): file_line(source.path, word.value.lineno)
        for source in trace.own_sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        for word in node.keywords
        if word.arg in ("sampler", "batch_sampler") and not isinstance(word.value, ast.Constant)
    }
    if len(given) != 1:
        return None
    [(sampler, place)] = given.items()
    holder = ast.unparse(rows.holder)
    found.condition = say("rows-other", lang, told=found.condition, x=sampler, n=number, place=place)
    found.origins = [Origin(sampler, "data"), Origin(holder, "data")]
    found.remedies = [Remedy("rows-fit", (("x", sampler), ("y", f"len({holder})")), None, "rule"), *found.remedies]
    return found


def _counts_too_far(sampler: ast.ClassDef) -> Iterator[tuple[ast.Call, str]]:
    """The calls that count from 1, or to the number of rows instead of the last row, with what counts right."""
    for node in ast.walk(sampler):
        if not isinstance(node, ast.Call) or called(node) not in ("range", "enumerate"):
            continue
        given = [ast.unparse(one) for one in (*node.args, *(one.value for one in node.keywords))]
        if called(node) == "enumerate" and len(given) == 2 and given[1] == "1":
            yield node, f"enumerate({given[0]})"
        elif called(node) == "range" and given and "len(" in given[-1] and given[-1].endswith(" + 1"):
            yield node, f"range({given[-1].removesuffix(' + 1')})"
