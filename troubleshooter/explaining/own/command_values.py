"""A value that a message shows and that the run's own command line gives: the option is named, and for a number what it takes."""

from __future__ import annotations

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy, literal
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.observe.model import Failure

_NUMBER = lazy.compile(
    r"^(?:invalid literal for (?P<whole>int)\(\) with base \d{1,2}|could not convert string to float): "
    r"(?P<v>'[^'\n]{1,120}'|\"[^\"\n]{1,120}\")$"
)
_BETWEEN = lazy.compile(r"[\s,;:|]+")
"""What people put between several values of one option."""


def amended(found: FoundPlace, failure: Failure, trace: Trace) -> FoundPlace:
    """The explanation with the option; the same where no option, or several, have the value."""
    is_key = failure.type == "KeyError"
    said = _NUMBER.match(failure.message) if failure.type == "ValueError" else None
    value = literal(failure.message if is_key else said["v"] if said is not None else None)
    if not isinstance(value, str) or not value.strip():
        return found
    options = trace.sources.options.texts
    same = [name for name, text in options.items() if value == text or value in _BETWEEN.split(text)]
    if len(same) != 1:
        return found
    name = f"--{same[0].replace('_', '-')}"
    given = trace.sources.options.one(same[0])
    place = given.place if given is not None else ""
    found.origins = [Origin(name, "option", "", repr(options[same[0]]), True, place=place), *found.origins]
    if said is not None:
        key = "number-whole" if said["whole"] else "number-plain"
        found.remedies = [Remedy(key, (("x", name), ("v", repr(value))), None, "message"), *found.remedies]
    return found
