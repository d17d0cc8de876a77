"""A method of the user's own class that is written without ``self``, so that it has no place for what the call passes."""

from __future__ import annotations

import ast

from kb import lazy
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.file_lines import file_line
from troubleshooter.explaining.source.names import parameters
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_functions import functions_of
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

_MESSAGE = lazy.compile(
    r"^(?:(?P<c>\w{1,80})\.)?(?P<f>\w{1,80})\(\) takes (?P<n>\d{1,3}) positional arguments? but (?P<given>\d{1,3}) (?:was|were) given"
)


def amended(found: FoundPlace, failure: Failure, trace: Trace, lang: str) -> FoundPlace | None:
    """The explanation with the method; None where it takes ``self``, or is not the user's."""
    said = _MESSAGE.match(failure.message) if failure.type == "TypeError" else None
    if said is None or int(said["given"]) != int(said["n"]) + 1:
        return None
    methods = [
        one
        for source in trace.own_sources
        for one in functions_of(source)
        if one.name == said["f"] and one.owner is not None and said["c"] in (None, one.owner.name)
    ]
    if len(methods) != 1 or methods[0].owner is None:
        return None
    method, names = methods[0].function, parameters(methods[0].function)
    if method.decorator_list or names[:1] in (["self"], ["cls"]):
        return None
    place = file_line(methods[0].source.path, method.lineno)
    name = f"{methods[0].owner.name}.{method.name}"
    listed = ast.unparse(method.args)
    text = f"def {method.name}({', '.join(filter(None, ('self', listed)))}):"
    found.condition = say("no-self", lang, x=name, place=place)
    found.origins = [Origin(name, "data")]
    found.remedies = [Remedy("no-self-write", (("x", text),), text, "rule")]
    return found
