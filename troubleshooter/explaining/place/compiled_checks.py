"""A check of torch's CUDA or communication code that failed: the index has its condition, as the C++ source writes it."""

from __future__ import annotations

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.place.indexed import LEAST_ALONE, open_index
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

LIBRARY = "torch"
MAX_CONDITION = 160
"""A longer condition is a part of an algorithm that no user can read."""


def explain(failure: Failure, lang: str) -> FoundPlace | None:
    """The explanation of a message that one check alone can have printed; None for all others.

    The values that the message shows are its arguments, by their names in the source where those are plain.
    """
    index = open_index()
    if index is None or not failure.message:
        return None
    for one in index.find(failure.message, failure.exception or None, LIBRARY):
        if one.kind != "compiled" or one.extent != "whole" or one.quality < LEAST_ALONE["whole"]:
            continue
        conditions = {guard.condition for site in one.sites for guard in site.guards}
        if len(conditions) != 1 or len(one.sites[0].guards) != 1:
            continue
        [condition] = conditions
        if len(condition) > MAX_CONDITION:
            continue
        shown = [Origin(name, "data", "", value) for name, value in one.values if name.isidentifier() and value]
        frame = failure.frames[-1] if failure.frames else None
        file = one.sites[0].file
        return FoundPlace(frame, say("msg-compiled", lang, c=condition, file=file), shown, [], "rule")
    return None
