"""The name of a dtype, as a configuration has it, in place of the dtype itself."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import set_to
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import UNKNOWN, literal
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(r"argument '(?P<x>\w{1,40})'(?: \(position \d{1,3}\))? must be torch\.dtype, not str")
_NAMES = frozenset(
    (
        "float16",
        "float32",
        "float64",
        "bfloat16",
        "half",
        "float",
        "double",
        "int8",
        "uint8",
        "int16",
        "int32",
        "int64",
        "long",
        "bool",
    )
)


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the dtype; None where the user's own call does not pass it by this name."""
    said = _MESSAGE.search(failure.message)
    given = [
        keyword.value
        for call in trace.own_calls
        for keyword in call.keywords
        if said is not None and keyword.arg == said["x"]
    ]
    if said is None or len({ast.unparse(one) for one in given}) != 1:
        return None
    text = ast.unparse(given[0])
    value = literal(text)
    if value is not UNKNOWN:
        name = str(value).removeprefix("torch.")
        if name not in _NAMES:
            return None
        made = f"torch.{name}"
    else:
        made = f"getattr(torch, {text})"
    origin = Origin(said["x"], "argument", "", text, True)
    found.origins = [origin, *(one for one in found.origins if one.name != said["x"])]
    found.condition = found.condition or say("ref-class", lang, x=said["x"], t="str", u="torch.dtype")
    found.remedies = [set_to(origin, made)]
    return found
