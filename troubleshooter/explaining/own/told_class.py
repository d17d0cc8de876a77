"""An argument of which a message says the class that it has and the one that it needs, and a text that stands for a number.

`mistyped` knows these from Python's own words; here a library, a field's check or compiled code says it with the argument's name
or position, or a check of the class prints the value without its quotes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import set_to, settable
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal
from troubleshooter.explaining.source.calls import calls_at
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_lines import passed_values
from troubleshooter.explaining.source.shown import called
from troubleshooter.observe.model import Failure

_PLAIN = "int|float|str|bool|list|dict|tuple"
_FIELD = lazy.compile(
    r"\b(?:[Ff]ield|[Aa]rgument|[Pp]arameter|[Oo]ption|[Aa]ttribute) ['\"`](?P<x>\w{1,80})['\"`] (?:expected|expects|must be|should be)"
    rf"(?: an?)? '?(?P<u>{_PLAIN})'?,? (?:but )?(?:got|not|is)(?: an?)? '?(?P<t>{_PLAIN})'?(?: \(value: (?P<v>[^\n)]{{1,80}})\))?(?!\w)"
)
_POSITION = lazy.compile(
    r"^(?P<f>\w{1,80})\(\): argument '\w{1,60}' \(position (?P<n>\d{1,2})\) must be (?:(?P<u>Tensor), not (?:list|(?P<parts>tuple)|int|float|numpy\.ndarray)|(?P<k>int|float), not str)$"
)
_WHOLE = lazy.compile(
    r"\b(?:must|should|has to|needs to) be an? (?:positive |non-?negative )?int(?:eger)?(?: (?:value|number))?(?:,| but|;)[^\n]{0,40}?\bgot `?(?:\w{1,60} ?= ?)?[1-9]\d{0,9}(?:\.0)?$"
)
"""A message that wants a whole number and shows one: what it shows is a text, or a number of another class."""
_BETWEEN = lazy.compile(
    r"(?:^|[\s`'\"(])(?P<x>[a-z]\w{1,60})[`'\"]? (?:must|should|has to|needs to) be (?:a (?:float|number|value) )?(?:between|in the range) "
    r"(?P<a>-?\d{1,9}(?:\.\d{1,9})?) and (?P<b>-?\d{1,9}(?:\.\d{1,9})?)(?![\w])"
)
_WHOLE_NEEDED = lazy.compile(
    r"^(?:slice indices must be integers|must be real number, not str|'str' object cannot be interpreted as an integer|can't multiply sequence by non-int of type 'str'|unsupported operand type\(s\) for [^\s:]{1,12}: '(?:str' and '(?:int|float)|(?:int|float)' and 'str)'|'[<>]=?' not supported between instances of '(?:str' and '(?:int|float)|(?:int|float)' and 'str)')"
)
"""What Python says of a text in the place of a number."""
MAX_ORIGINS = 3
"""Arguments of an explanation that may have the text."""


def explained(found: FoundPlace, failure: Failure, trace: Trace) -> bool:
    """Add the argument and its class to an explanation; whether the message told them."""
    return (
        _between(found, failure.message)
        or _field(found, failure.message, trace)
        or _position(found, failure.message, trace)
        or _whole(found, failure.message)
        or _only_text_number(found, failure, trace)
    )


def number_in(value: object) -> int | float | None:
    """The number that a text is written as; None for other texts and for what is no text."""
    number = literal(value) if isinstance(value, str) else UNKNOWN
    return number if isinstance(number, (int, float)) and not isinstance(number, bool) else None


def _field(found: FoundPlace, message: str, trace: Trace) -> bool:
    said = _FIELD.search(message)
    if said is None:
        return False
    name, wanted = said["x"], said["u"]
    mine = passed_values(trace).get(name)
    given = trace.own_code.one(name)
    origin = Origin(
        name, "argument", "", mine or (given.text if given is not None else said["v"]), True if mine else None
    )
    number = number_in(literal(origin.value)) if wanted in ("int", "float") else None
    if number is not None:
        fix = set_to(origin, repr(number))
    else:
        fix = Remedy("do-class", (("x", name), ("y", wanted)), f"{name}=...", "message")
    _first(found, origin, [fix])
    return True


def _position(found: FoundPlace, message: str, trace: Trace) -> bool:
    """The argument of a compiled function by its position in the line that called it."""
    said = _POSITION.match(message)
    at = len(trace.frames) - 1
    context = trace.context(at) if said is not None else None
    if said is None or context is None:
        return False
    for call in calls_at(context.source.tree, context.line):
        number = int(said["n"]) - 1
        if called(call).rpartition(".")[2] != said["f"] or number >= len(call.args):
            continue
        able = settable(trace.origins(call.args[number], context))
        if len(able) == 1:
            maker, number_ = "torch.as_tensor" if said["u"] else said["k"], number_in(literal(able[0].value))
            if said["parts"] and able[0].value:
                part = f"{able[0].value}[0]"
                fix = Remedy("ret-part", (("x", able[0].value), ("y", part)), part, "rule")
            elif said["k"] and number_ is not None:
                fix = set_to(able[0], repr(number_))
            else:
                value = f"{maker}({able[0].value or '...'})"
                fix = Remedy(
                    "do-class", (("x", able[0].name), ("y", said["u"] or said["k"])), f"{able[0].name}={value}", "rule"
                )
            _first(found, able[0], [fix])
            return True
    return False


def stored_text(found: FoundPlace, message: str) -> bool:
    """A text that is written as the very number that the message shows: ``size="4"``, and "size should be an integer, got 4"."""
    for origin in found.origins[:MAX_ORIGINS]:
        text = literal(origin.value)
        number = number_in(text)
        if (
            number is None
            or not origin.passed
            or re.search(rf"(?<![\w.'\"]){re.escape(str(text))}(?![\w.'\"])", message) is None
        ):
            continue
        _first(found, origin, [set_to(origin, repr(number))])
        return True
    return False


def _between(found: FoundPlace, message: str) -> bool:
    said = _BETWEEN.search(message)
    origin = next((one for one in found.origins if said is not None and one.name == said["x"]), None)
    if said is None or origin is None:
        return False
    needed = f"{said['a']} <= {origin.name} <= {said['b']}"
    _first(found, origin, [Remedy("do-pair", (("x", origin.name), ("y", needed)), f"{origin.name}=...", "message")])
    return True


def _only_text_number(found: FoundPlace, failure: Failure, trace: Trace) -> bool:
    """The one text in all that the user's file gives that is written as a number, where a number was needed."""
    if failure.type != "TypeError" or _WHOLE_NEEDED.match(failure.message) is None:
        return False
    texts = [one for one in trace.own_code.given if number_in(literal(one.text)) is not None]
    if len({(one.name, one.text) for one in texts}) != 1 or not all(map(trace.own_code.is_of_file, texts)):
        return False
    one = texts[0]
    if any(
        origin.passed and origin.name != one.name and literal(origin.value) is not UNKNOWN
        for origin in found.origins[:1]
    ):
        return False
    origin = trace.given(Origin(one.name, "argument"), one)
    _first(found, origin, [set_to(origin, repr(number_in(literal(one.text))))])
    return True


def _whole(found: FoundPlace, message: str) -> bool:
    able = settable([one._replace(exact=True) for one in found.origins[:1]])
    if _WHOLE.search(message) is None or not able:
        return False
    value = able[0].value if able[0].passed and able[0].value else "..."
    fix = Remedy("do-class", (("x", able[0].name), ("y", "int")), f"{able[0].name}=int({value})", "message")
    _first(found, able[0], [fix])
    return True


def _first(found: FoundPlace, origin: Origin, remedies: Sequence[Remedy]) -> None:
    found.origins = [origin, *(one for one in found.origins if one.name != origin.name)]
    found.remedies = list(remedies)
