"""What an option of an object of settings comes from: what the user's file gives it, and the fields of its class."""

from __future__ import annotations

from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.source.classes import Attribute, attribute, field
from troubleshooter.explaining.source.forms import class_called
from troubleshooter.explaining.source.frames import TraceFrames
from troubleshooter.explaining.source.names import NameContext
from troubleshooter.explaining.source.options import class_of, is_worked_out

OPTION_STEPS = 4
"""Steps that are followed inside of a property of a class of settings."""


def option(trace: TraceFrames, name: str, owner: str, context: NameContext, left: int) -> list[Origin]:
    """An option of an object of settings, with what the user's file gives it and what its class says of it."""
    given = trace.own_code.one(name, owner)
    owner = owner or (class_called(given.holder) if given is not None else "")
    class_ = _settings(trace, owner, context)
    said = None
    if class_ is not None and left >= 0:
        said = attribute(trace.sources, class_.source, class_.owner, name, None, 0)
    origin = Origin(name, "option", owner)
    if said is not None and said.field:
        origin = origin._replace(default=said.default, annotation=said.annotation)
    if given is not None:
        return [trace.given(origin, given)]
    if said is not None and said.value is not None and (behind := _worked_out(trace, said, owner, context)):
        return behind
    return [origin._replace(kind="attribute") if is_worked_out(name) else origin]


def _settings(trace: TraceFrames, name: str, context: NameContext) -> Attribute | None:
    """The class of an object of settings, as the library's file or the user's own imports it."""
    found = class_of(name, context.source, trace.sources)
    library = context.source if context.source.below else None
    for source in trace.own_sources if found is None and library is not None else ():
        found = found or class_of(name, source, trace.sources, library)
    return found


def _worked_out(trace: TraceFrames, said: Attribute, owner: str, context: NameContext) -> list[Origin]:
    """The fields that a property of a class of settings is worked out from."""
    assert said.value is not None
    inside = NameContext(said.source, said.owner, said.function, said.value.lineno, None)
    out: list[Origin] = []
    for one in trace.origins_of_value(said.value, inside, OPTION_STEPS):
        if field(trace.sources, said.source, said.owner, one.name) is not None and not one.name.startswith("_"):
            out += option(trace, one.name, owner, context, -1)
    return [one._replace(exact=False) for one in out]
