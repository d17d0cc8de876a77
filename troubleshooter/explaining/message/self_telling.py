"""Messages that say themselves which value was refused and which ones do: "Invalid backend: None, expected sglang or vllm".

They are explained without their place, so that one line of a log is enough. Where the place is known, `placed` tells more.
"""

from __future__ import annotations

import re

from kb import lazy
from troubleshooter.explaining.message import required_release
from troubleshooter.explaining.message.message_answer import MessageAnswer, MessageRule
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, choices, literal, nearest

_NAME = r"[`'\"]?(?P<x>[A-Za-z_][\w.]{0,60}(?: [a-z][\w.]{0,30}){0,3}?)[`'\"]?"
_VALUE = r"(?P<v>[`'\"]?[\w./+-]{1,60}[`'\"]?)"
_REFUSED_FIRST = lazy.compile(
    rf"(?i)\b(?:invalid|unknown|unsupported|unrecognized|unexpected|illegal) {_NAME}(?: value)?[:= ] ?{_VALUE}[,.;:]? "
    r"\(?(?:but )?(?:expected|supported|valid|available|allowed|must be|should be|choose|use|options are|one of)\b(?P<list>[^\n]{3,200})"
)
_REFUSED_LAST = lazy.compile(
    rf"(?i)(?:^|[.:;] ){_NAME} (?:must|should|has to|can only|needs to) be (?P<list>[^\n]{{3,200}}?)"
    rf"[,.;]? \(?(?:but )?(?:got|received|found|is|was)(?: instead)?:? {_VALUE}\)?(?=[.;\n]|$)"
)
_SIDE = (
    r"(?P<{name}>(?:[A-Za-z_][\w.\[\]*]{{0,60}}|[A-Za-z_]\w{{0,40}}\([\w.]{{1,40}}\))(?: [a-z][\w.]{{0,30}}){{0,4}}?)"
)
_MULTIPLE = lazy.compile(
    rf"(?i)(?:^|[.:;] )(?:the )?{_SIDE.format(name='x')}(?: ?[(=:]{{1,2}} ?(?P<a>\d{{1,12}})\)?| (?P<g>\d{{1,12}}))? "
    r"(?:must be|should be|has to be|needs to be|is not|isn't|not) (?:evenly )?(?:divisible by|a multiple of) (?:the )?"
    rf"{_SIDE.format(name='y')}(?: ?[(=:]{{1,2}} ?(?P<b>\d{{1,12}})\)?| (?P<e>\d{{1,12}}))?"
    r"(?:[,.;:]? \(?(?:but )?got:? (?P<c>\d{1,12}) (?:and|vs\.?|%|by) (?P<d>\d{1,12})\)?)?[.!]?(?=$|[.;\n,] ?)"
)
_SIGN = lazy.compile(
    rf"(?i)(?:^|[.:;] ){_NAME} (?:must|should|has to|needs to) be (?:a |an )?(?P<want>(?:strictly )?(?:non-?negative|positive)(?: (?:integer|int|number|float))?|(?:at least|greater than|larger than|less than|at most|>=?|<=?) -?\d{{1,9}}(?:\.\d{{1,6}})?)"
    r"[,.;]? ?\(?(?:but )?(?:got|received|found|is|was)(?: instead)?:? (?P<v>-?\d{1,12}(?:\.\d{1,12})?)\)?(?=[.;\n]|$)"
)
_NO_VALUES = frozenset({"a", "an", "the", "but", "not", "positive", "non-negative"})
"""Words of a sentence that lists no values."""
_LEAD = lazy.compile(
    r"^(?: ?(?:values|options|ones|types|are|is|be|one of|either|from|include|in|among|the following)\b)*:? ?"
)
_BETWEEN = lazy.compile(r", (?:or |and )?| or | and ")
_WORD = lazy.compile(r"[`'\"]?([\w.+/-]{1,40})[`'\"]?")


def _listed(text: str) -> list[str]:
    """The values that a text lists, up to the end of its sentence; [] if it is no list of words."""
    text = _LEAD.sub("", text, count=1)
    ends = [place for end in (". ", ";", "(") if (place := text.find(end, 1)) > 0]
    words = [_WORD.fullmatch(part) for part in _BETWEEN.split(text[: min(ends, default=len(text))].strip(" .[](){}"))]
    return [word[1] for word in words if word] if all(words) else []


def _not_among(m: re.Match[str]) -> MessageAnswer | None:
    """A value beside the list of those that are taken."""
    name, value, listed = m["x"], m["v"].strip("`'\"."), _listed(m["list"])
    known = [word for word in listed if word != "None"]
    if len(known) < 2 or value in listed or not _NO_VALUES.isdisjoint(listed):
        return None
    meant = nearest(value, known) if literal(value) is not None else UNKNOWN
    code = (f"{name}=..." if meant is UNKNOWN else f"{name}={meant!r}") if name.isidentifier() else None
    fix = (
        Remedy("do-one-of", (("x", name), ("y", choices(value, known))), code, "message")
        if meant is UNKNOWN
        else Remedy("do-set", (("x", name), ("y", repr(meant))), code, "message")
    )
    return MessageAnswer("msg-not-among", {"x": name, "v": value, "y": choices(value, known)}, name, value, (fix,))


def _not_multiple(m: re.Match[str]) -> MessageAnswer | None:
    """A number and the one that should divide it, with what is left over."""
    first, second = m["a"] or m["g"] or m["c"], m["b"] or m["e"] or m["d"]
    if not first or not second or not int(second) or not int(first) % int(second):
        return None
    number, by = int(first), int(second)
    low, high = number - number % by, number - number % by + by
    near = f"{low} / {high}" if low else str(high)
    values = {"x": m["x"], "a": first, "y": m["y"], "b": second, "r": str(number % by)}
    fix = Remedy("do-multiple", (("x", m["x"]), ("y", second), ("z", near)), None, "message")
    return MessageAnswer("msg-not-multiple", values, m["x"], first, (fix,))


def _out_of_range(m: re.Match[str]) -> MessageAnswer:
    """A number and what it has to be."""
    fix = Remedy("do-be", (("x", m["x"]), ("y", m["want"])), None, "message")
    return MessageAnswer("msg-needs-be", {"x": m["x"], "want": m["want"], "v": m["v"]}, m["x"], m["v"], (fix,))


_TYPES = "ValueError AssertionError RuntimeError KeyError NotImplementedError TypeError Exception"
RULES: tuple[MessageRule, ...] = (
    (_TYPES, _SIGN, _out_of_range),
    (_TYPES, _REFUSED_FIRST, _not_among),
    (_TYPES, _REFUSED_LAST, _not_among),
    (_TYPES, _MULTIPLE, _not_multiple),
    required_release.RULE,
)  # fmt: skip
