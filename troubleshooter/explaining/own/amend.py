"""An explanation with what the user's own files tell of it: which rules are asked, and in which order.

Each rule has ``amended(found, failure, trace, lang)``. It gives the explanation back as it was where it has nothing to tell.
"""

from __future__ import annotations

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import is_own
from troubleshooter.explaining.own import (
    awaited,
    batched,
    class_meant,
    collected,
    command_values,
    counted_values,
    decorated,
    dtypes,
    lengths,
    misfit,
    mistyped,
    none_elements,
    none_sources,
    own_keys,
    own_numbers,
    own_repairs,
    own_values,
    parts,
    returned,
    shadowed,
    split_parts,
    taken_apart,
    uncalled,
    written_fields,
)
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.shown import code
from troubleshooter.observe.model import Failure

_OF_A_CALL = (
    written_fields,
    mistyped,
    returned,
    own_numbers,
    misfit,
    collected,
    parts,
    own_values,
    counted_values,
    taken_apart,
)
"""What the user's own call passed to code that failed: to a library's, or to compiled code, which has no frame of its own."""

_OF_A_LINE = (class_meant, split_parts, decorated)
"""What goes before a suggestion that the line alone would make."""


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation of a failure with at least one frame of the user's own; None where nothing explains it."""
    last = failure.frames[-1]
    found = batched.amended(found, failure, trace, lang)
    told = uncalled.explain(found, failure, trace, lang) or awaited.explain(found, failure, trace, lang)
    if told is not None:
        return told
    if is_own(last):
        if (told := shadowed.explain(failure, trace, lang)) is not None:
            return told
        if found is not None:
            return _of_own_line(found, failure, trace, lang)
        if code(last).startswith(("raise", "assert")):
            return None
    return _of_call(found, failure, trace, lang)


def _of_own_line(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """For a line of the user's own that raised the exception itself."""
    found = own_keys.amended(found, failure, trace)
    found = command_values.amended(found, failure, trace)
    for rule in _OF_A_LINE:
        found = rule.amended(found, failure, trace, lang)
    found, is_told = own_repairs.amended(found, failure, trace, lang)
    if is_told:
        return found
    if "NoneType" in failure.message:
        found = returned.amended(found, failure, trace, lang) or found
        if own_repairs.is_weak(found.remedies):
            found = none_sources.amended(found, failure, trace, lang)
        return none_elements.amended(found, failure, trace) if own_repairs.is_weak(found.remedies) else found
    if any("..." in (one.code or "") for one in found.remedies):
        told, found.remedies = found.remedies, []
        mistyped.amended(found, failure, trace, lang)
        found.remedies = found.remedies or told
    return found


def _of_call(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    for rule in _OF_A_CALL:
        found = rule.amended(found, failure, trace, lang)
    if found is not None and own_repairs.is_weak(found.remedies):
        found = lengths.amended(found, failure, trace, lang) or dtypes.amended(found, failure, trace, lang) or found
    return found
