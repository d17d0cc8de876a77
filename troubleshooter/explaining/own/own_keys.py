"""A key that the user's own line asks for and that their file nowhere writes: the one that it writes and that is nearly the same."""

from __future__ import annotations

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal, nearest
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_data import written_keys
from troubleshooter.observe.model import Failure

LEAST = 4
"""Characters of a key that is compared with others by likeness."""
NEAR = 0.8
"""Least likeness, from 0 to 1."""


def amended(found: FoundPlace, failure: Failure, trace: Trace) -> FoundPlace:
    """An explanation that first suggests the key that was meant; the same where the file writes none like it."""
    key = literal(failure.message) if failure.type == "KeyError" and failure.frames else UNKNOWN
    source = trace.sources.of(failure.frames[-1]) if isinstance(key, str) and len(key) >= LEAST else None
    if source is None or not isinstance(key, str) or any(one.key != "own-look" for one in found.remedies):
        return found
    there = list(dict(written_keys(source.tree)))
    meant = nearest(key, there) if there and key not in there else UNKNOWN
    if meant is not UNKNOWN and _is_near(key, str(meant)):
        fix = Remedy("do-replace", (("x", repr(key)), ("y", repr(meant))), repr(meant), "rule")
        found.remedies = [fix, *found.remedies]
    return found


def _is_near(key: str, meant: str) -> bool:
    """Whether one text begins with the other, or nearly all of their letters agree: "test" is not "text"."""
    import difflib

    one, other = sorted((key.lower(), meant.lower()), key=len)
    return other.startswith(one) or difflib.SequenceMatcher(None, one, other).ratio() >= NEAR
