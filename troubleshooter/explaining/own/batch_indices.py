"""A sampler that yields lists of row numbers, and is given to a loader as one that yields single numbers: ``sampler=`` for ``batch_sampler=``."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import called, nodes_of
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_LIST = lazy.compile(r"^(?:list|tuple) indices must be integers or slices, not list$|^unhashable type: 'list'")
_FETCHER = "torch/utils/data/_utils/fetch.py"


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation that names ``batch_sampler``; None where the loader did not ask for the row, or has no sampler of the user's."""
    frames = trace.frames
    context = trace.context(len(frames) - 1)
    if context is None or context.function is None or _LIST.match(failure.message) is None:
        return None
    names = parameters(context.function)
    if context.function.name != "__getitem__" or len(names) != 2 or not frames[-2].file.endswith(_FETCHER):
        return None
    asked = [
        node
        for nodes in nodes_of(frames[-1])
        for node in nodes
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == names[1]
    ]
    samplers = {
        ast.unparse(keyword.value)
        for source in trace.own_sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and called(node).rpartition(".")[2] == "DataLoader"
        for keyword in node.keywords
        if keyword.arg == "sampler"
    }
    if not asked or len(samplers) != 1:
        return None
    [sampler] = samplers
    text = f"batch_sampler={sampler}"
    found.condition = say("batch-indices", lang, told=found.condition, x=names[1], y=sampler)
    found.origins = [Origin("sampler", "argument", "DataLoader", sampler, True), *found.origins]
    found.remedies = [Remedy("batch-indices-batch", (("x", text),), text, "rule")]
    return found
