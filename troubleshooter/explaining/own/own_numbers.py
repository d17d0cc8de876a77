"""Two numbers of the user's own that a message relates to each other: one has to divide the other, or to be smaller than it.

Compiled code knows no names of arguments. The words of its message and the numbers that it shows tell which two it means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb import lazy
from troubleshooter.explaining.divisors import nearest_divisor
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import set_to
from troubleshooter.explaining.message.named import names
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.own.own_values import named_values
from troubleshooter.explaining.remedy import Remedy, literal
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_DIVIDES = lazy.compile(
    r"(?i)\b(?:must|should|has to|have to|needs? to) (?:evenly )?(?:divide|be (?:evenly )?divisible|be an? (?:round )?multiple)\b"
)
_GREATER = r"(?:(?:strictly )?(?:greater|larger|bigger|longer|more|higher) than(?P<e> or equal to)?|exceed(?:s|ing)?)"
_RELATED = lazy.compile(
    rf"(?i)(?P<a>(?:\w{{1,40}} ){{1,4}})(?:of|is|set to|=|to|:)? ?\(?(?P<m>\d{{1,12}})\)?,?(?: which)?(?: is|are|must not be|cannot be|can't be)? {_GREATER}"
    r" (?P<b>(?:\w{1,40} ){1,6})(?:of|is|set to|=|to|:)? ?\(?(?P<n>\d{1,12})(?![\w.])"
)
_WORD = lazy.compile(r"[a-z]{4,30}")
_GENERAL = frozenset(
    (
        "number",
        "size",
        "value",
        "values",
        "must",
        "should",
        "have",
        "with",
        "that",
        "than",
        "from",
        "each",
        "this",
        "batch",
    )
)
"""Words that many names and messages have."""


def amended(found: FoundPlace | None, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """An explanation that names the two numbers and what one of them has to be, where nothing was suggested yet."""
    if found is not None and any(one.key != "do-check" for one in found.remedies):
        return found
    told = _divided(failure.message, trace) or _ordered(failure.message, trace)
    if told is None:
        return found
    one, other, condition, fix = told
    found = found or FoundPlace(None, "", [], [], "rule")
    found.condition = found.condition or condition(lang)
    found.origins = [one, other, *(part for part in found.origins if part.name not in (one.name, other.name))]
    found.remedies = [fix]
    return found


class _Told:
    """A condition in words, made once the language is known."""

    def __init__(self, key: str, **values: object) -> None:
        self._key = key
        self._values = values

    def __call__(self, lang: str) -> str:
        return say(self._key, lang, **self._values)


def _divided(message: str, trace: Trace) -> tuple[Origin, Origin, _Told, Remedy] | None:
    if _DIVIDES.search(message) is None:
        return None
    words = set(_WORD.findall(message.lower())) - _GENERAL
    found = {one.name: (one, number) for one, number in _numbers(trace)}
    said = [name for name in found if names(message, name)]
    alike = said if len(said) == 2 else [name for name in found if words & set(re.split(r"_", name.lower()))]
    if len(alike) != 2:
        return None
    (less, part), (more, whole) = sorted((found[name] for name in alike), key=lambda one: one[1])
    good = nearest_divisor(whole, part) if whole % part else None
    if good is None:
        return None
    return less, more, _Told("num-divides", a=more.name, m=whole, b=less.name, n=part), set_to(less, str(good))


def _ordered(message: str, trace: Trace) -> tuple[Origin, Origin, _Told, Remedy] | None:
    said = _RELATED.search(message)
    if said is None or int(said["m"]) < int(said["n"]):
        return None
    sides = []
    for text, shown in ((said["a"], said["m"]), (said["b"], said["n"])):
        named = [one for one, number in _numbers(trace) if number == int(shown) and names(text, one.name)]
        if len({one.name for one in named}) != 1:
            return None
        sides.append(named[0])
    one, other = sides
    needed = f"{one.name} {'<' if said['e'] else '<='} {other.name}"
    told = _Told("num-ordered", a=one.name, m=said["m"], b=other.name, n=said["n"])
    return one, other, told, Remedy("do-pair", (("x", one.name), ("y", needed)), f"{one.name}=...", "message")


def _numbers(trace: Trace) -> Iterator[tuple[Origin, int]]:
    """The positive whole numbers that the user's own code gives by name, those of the lines of the traceback first."""
    seen: set[str] = set()
    for call in trace.own_calls:
        for name, node in named_values(call, trace):
            number = node.value if hasattr(node, "value") else None
            if isinstance(number, int) and not isinstance(number, bool) and number > 0 and name not in seen:
                seen.add(name)
                yield Origin(name, "argument", "", str(number), True), number
    for given in trace.own_code.given:
        number = literal(given.text)
        if isinstance(number, int) and not isinstance(number, bool) and number > 0 and given.name not in seen:
            if trace.own_code.one(given.name) is None:  # the file gives several values
                continue
            seen.add(given.name)
            yield trace.given(Origin(given.name, "option"), given), number
