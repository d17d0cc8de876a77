"""What the user's own file tells of a line of theirs that failed, where no suggestion goes beyond "see what is there"."""

from __future__ import annotations

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.own import (
    absent_keys,
    batch_indices,
    circles,
    dtypes,
    fed_back,
    first_best,
    groups,
    in_place,
    lengths,
    marks,
    missing_attributes,
    no_batches,
    none_index,
    outer_names,
    parameter_names,
    past_the_end,
    row_numbers,
    searched,
    swapped,
    tuples,
    unpacked,
    used_up,
    without_self,
)
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.observe.model import Failure

WEAK = frozenset(("do-check", "own-guard", "own-look", "own-first", "own-assign", "own-default", "day-parameters"))
"""Suggestions that repair nothing by themselves."""
_STEPS = (
    none_index,
    in_place,
    lengths,
    missing_attributes,
    swapped,
    unpacked,
    absent_keys,
    marks,
    searched,
    fed_back,
    groups,
    tuples,
    past_the_end,
    row_numbers,
    parameter_names,
    dtypes,
    without_self,
    first_best,
    outer_names,
    used_up,
    batch_indices,
    no_batches,
    circles,
)


def is_weak(remedies: list[Remedy]) -> bool:
    """Whether nothing is suggested that repairs."""
    return all(one.key in WEAK for one in remedies)


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> tuple[FoundPlace, bool]:
    """The explanation, and whether one of the rules had something to tell; the first that has decides."""
    if not is_weak(found.remedies):
        return found, False
    for step in _STEPS:
        told = step.amended(found, failure, trace, lang)
        if told is not None:
            return told, True
    return found, False
