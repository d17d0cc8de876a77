"""The place of a failure in a library's source, or in the index: its condition, whose arguments made it true, what would help.

The source of the place is what the traceback names (`sources`), so any library is explained whose files are here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from kb.index.place import MessagePlace
from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.making import give, is_plain, settable, without_self
from troubleshooter.explaining.message import advice, instructions
from troubleshooter.explaining.message.named import names
from troubleshooter.explaining.message.stated import stated
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.place import holes, suggestions
from troubleshooter.explaining.place.conditions import (
    Atom,
    Formula,
    atoms,
    comparison,
    instance,
    is_caught,
    passes_on,
    reasons,
    words,
)
from troubleshooter.explaining.place.exclusive import exclusive, is_given
from troubleshooter.explaining.place.holding import holds, refuted
from troubleshooter.explaining.place.indexed import KnownMessage
from troubleshooter.explaining.place.place_names import PlaceNames
from troubleshooter.explaining.place.refused import compared, listed_values, open_ended
from troubleshooter.explaining.place.remedies import of_class
from troubleshooter.explaining.place.simplified import simplified
from troubleshooter.explaining.place.unfolded import unfolded
from troubleshooter.explaining.python import exceptions
from troubleshooter.explaining.remedy import UNKNOWN, Remedy, literal
from troubleshooter.explaining.source.names import NameContext, references
from troubleshooter.explaining.source.options import options_in
from troubleshooter.explaining.source.origins import Trace
from troubleshooter.explaining.source.own_lines import equally_long, literals, named_arguments, passed_values
from troubleshooter.explaining.source.reached import is_reached
from troubleshooter.explaining.source.shown import calls, code, marked
from troubleshooter.explaining.source.shown_source import shown_context
from troubleshooter.explaining.source.sources import Sources, holding
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure

MAX_TOLD = 8
"""Parts of a condition that are told at most; of one with more nothing is told."""


def from_source(failure: Failure, sources: Sources, lang: str) -> FoundPlace | None:
    frames = failure.frames
    trace = Trace(frames, sources)
    for at in range(len(frames) - 1, -1, -1):
        if not frames[at].file.endswith(".py"):  # compiled code, or made while it ran
            continue
        context = trace.context(at)
        if context is None:
            return None
        place = _place(context, failure)
        if place is None and is_own(frames[at]):
            return None
        if place is not None and (asked := _asked_above(trace, at, place, failure)) is not None:
            return _explained(trace, *asked, failure, lang)
        if place is not None and failure.cause is not None and failure.cause.frames and _wraps(place, failure):
            inner = Trace([*frames[:at], *failure.cause.frames], sources)
            context = inner.context(len(inner.frames) - 1)
            place_within = _place(context, failure.cause) if context is not None else None
            if context is not None and place_within is not None:
                return _explained(inner, context, place_within, failure.cause, lang)
            return None
        if place is not None:
            return _explained(trace, context, place, failure, lang)
        return _passed_through(trace, context, failure)
    return None


def from_shown(failure: Failure, sources: Sources, lang: str) -> FoundPlace | None:
    """What the log shows around the line that raised: the conditions above it; of a user's own line the values in its message, too."""
    if not failure.frames or "raise" not in code(failure.frames[-1]):
        return None
    frame = failure.frames[-1]
    context = shown_context(frame, len(failure.frames) - 1)
    place = _place(context, failure) if context is not None else None
    if context is None or place is None or place.kind != "raise":
        return None
    found = _explained(Trace(failure.frames, sources), context, place, failure, lang)
    alone = exceptions.explain_raised(failure, lang) if not found.condition else None
    if alone is not None:
        found.condition, found.remedies, found.basis = alone.condition, [*found.remedies, *alone.remedies], "rule"
    named = {one.expression or one.name for one in found.origins} | {one.name for one in found.origins}
    values = holes.filled(place.template, failure.message)
    found.origins += [Origin(hole, "data", "", value) for hole, value in values.items() if hole not in named]
    return found if found.condition else None


def from_index(failure: Failure, listed: KnownMessage | None, sources: Sources, lang: str) -> FoundPlace | None:
    if listed is None:
        return None
    trace = Trace(failure.frames, sources)
    found = _explained(trace, listed.context, listed.place, failure, lang)
    found.basis, found.frame, found.places = "index", listed.frame, listed.places
    return found


def _wraps(place: MessagePlace, failure: Failure) -> bool:
    """Whether a place only passes on an exception that it caught, with its message."""
    if failure.cause is None or not failure.cause.message or failure.cause.message not in failure.message:
        return False
    return next((guard.kind for guard in reversed(place.guards) if guard.kind != "if"), "") == "except"


def _place(context: NameContext, failure: Failure) -> MessagePlace | None:
    """The place at the line of a frame, the one whose text is the message where there are several."""
    here = [
        place
        for place in context.source.places_at(context.line)
        if place.line <= context.line <= place.end_line and place.kind in ("raise", "assert", "check")
    ]
    fitting = [place for place in here if holes.filled(place.template, failure.message)]
    return next(iter(fitting or here), None)


def _asked_above(
    trace: Trace, at: int, place: MessagePlace, failure: Failure
) -> tuple[NameContext, MessagePlace] | None:
    """The check that called what raised: ``torch._check_with(Error, x == y, lambda: f"...")`` raises by a line of its own."""
    context = trace.context(at - 1) if at > 0 and not holes.filled(place.template, failure.message) else None
    asked = _place(context, failure) if context is not None else None
    if context is None or asked is None or asked.kind != "check":
        return None
    return (context, asked) if holes.filled(asked.template, failure.message) else None


def _explained(trace: Trace, context: NameContext, place: MessagePlace, failure: Failure, lang: str) -> FoundPlace:
    near, around = _tellable(*map(simplified, reasons(place)))
    there = PlaceNames(trace, context, place, failure.message)
    origins, constant, subject, passed, said = (
        there.origins,
        there.constant,
        there.subject,
        there.passed,
        failure.message,
    )
    people: list[Origin] = []
    for what in (*near, *around):
        for atom in atoms(what):
            for part in references(atom.expression, context):
                people += origins(part)
    for hole in there.shown:
        people += origins(ast.parse(hole, mode="eval").body)
    values = {one.name: literal(one.value) for one in people} | {key: literal(text) for key, text in passed.items()}
    people += [one for one in options_in(context, said) if all(one.name != other.name for other in people)]
    swapped = list(advice.replacements(said, literals(trace)))
    people += [_origin(name, passed) for _, name in swapped if name and all(one.name != name for one in people)]
    listed_near, listed_around = ([unfolded(one, context) for one in some] for some in (near, around))
    whole = Formula("and", (*listed_near, *listed_around))
    advised = suggestions.named(said, values, whole, constant, subject)
    counted = exclusive(near, origins, said)
    refused_names = {one.name for node in _refused(near) for one in origins(node)}
    by_name = {one.name: one for one in people}
    aliases = {without_self(one.expression): one.name for one in people if one.exact and one.expression}
    given = passed | {one.name: one.value for one in people if one.passed and one.value}
    is_told = not is_caught(place) and _takes_arguments(place.function)
    derived = suggestions.derived(
        *((listed_near, listed_around) if is_told else ([], [])), said, origins, constant, subject
    )
    if holds(whole, constant) is False:  # so what the message shows is a value of another class than it looks like
        derived = [one for atom in atoms(whole) for one in of_class(atom, origins)] or derived
    from_annotation = [] if swapped else list(listed_values(people, said))
    listed_names = {one.subject for one in from_annotation}
    derived = [open_ended(one, whole, context, subject) for one in derived if one.subject not in listed_names]
    ordered = [
        *(remedy for remedy, _ in swapped),
        *from_annotation,
        *([] if swapped else compared(people, context, said)),
        *([] if swapped else instructions.listed_settings(said, passed)),
        *advised,
        *instructions.unset(said, given),
        *([] if swapped else instructions.one_of(said, refused_names)),
        *counted,
        *instructions.repeated(said, given),
        *instructions.respelled(said, literals(trace)),
        *suggestions.by_message([one for one in derived if not _changes_nothing(one, values)], said),
    ]
    are_given = {o.name for atom in atoms(whole) if (found := is_given(atom)) and found[1] for o in origins(found[0])}
    told = [
        one
        for one in instructions.instructions(said, by_name, given, _asked(near), aliases)
        if not (refuted(one, whole, constant, subject) or (one.key == "do-pass" and one.subject in are_given))
    ]
    ordered = suggestions.complete([*stated(said, named_arguments(trace)), *ordered], told, said, given)
    others = [
        one
        for one in context.source.places_at(context.line)
        if one.function == place.function and one.line != place.line and is_reached(context.source.tree, one.line)
    ]
    ordered = [one for one in ordered if not suggestions.forbidden(one, whole, others, constant, subject)]
    parts = [words(what, there.called, lang) for what in (*near, *around)]
    if passes_on(place):  # the conditions around it are not why it was reached
        parts = [say("passes-on", lang)]
    return FoundPlace(
        trace.frames[context.at] if context.at is not None else None,
        say("and", lang).join(dict.fromkeys(parts)),
        _ranked(people, said),
        ordered,
    )


def _tellable(
    near: list[Formula | Atom], around: list[Formula | Atom]
) -> tuple[list[Formula | Atom], list[Formula | Atom]]:
    """The conditions, without those that are too many for anybody to understand, as those of a parser's last branch."""
    few = [one for one in (near, [*near, *around]) if sum(len([*atoms(what)]) for what in one) <= MAX_TOLD]
    return ([], []) if not few else (near, around if len(few) > 1 else [])


def _refused(near: list[Formula | Atom]) -> list[ast.expr]:
    """What a condition says is not one of some values."""
    found = [comparison(atom) for what in near for atom in atoms(what)]
    return [one[0] for one in found if one is not None and one[1] in (ast.NotEq, ast.NotIn) and is_plain(one[0])]


def _asked(near: list[Formula | Atom]) -> set[str]:
    """The names whose class a condition asks for, also those of a column or an item that nobody passes by that name."""
    found = (instance(atom) for what in near for atom in atoms(what))
    return {one[0].id for one in found if one is not None and isinstance(one[0], ast.Name)}


def _takes_arguments(function: str) -> bool:
    """Whether a user passes a function its arguments: nobody does for ``__getattr__`` or ``__eq__``."""
    name = function.rpartition(".")[2]
    return not re.fullmatch(r"__\w+__", name) or name in _CALLED


_CALLED = frozenset(("__init__", "__post_init__", "__new__", "__call__", "__getitem__", "__setitem__", "__main__"))


def _passed_through(trace: Trace, context: NameContext, failure: Failure) -> FoundPlace | None:
    """A library's line where Python itself, or compiled code, raised: what the line used, and where that came from."""
    text = marked(trace.frames[context.at or 0])
    tree = next((node for node in calls(text)), None)
    people = [one for part in _used(tree, context) for one in trace.origins(part, context)]
    if not people:
        people = [one for part in _used(_at(context), context) for one in trace.origins(part, context)]
    if not people:
        return None
    said = failure.message
    swapped = [remedy for remedy, _ in advice.replacements(said, literals(trace))]
    found = [
        *stated(said, named_arguments(trace)),
        *swapped,
        *advice.settings(said, {}),
        *advice.commands(said),
        *_forgotten(people, said),
    ]
    passed = passed_values(trace)
    told = list(instructions.instructions(said, {one.name: one for one in people}, passed))
    ordered = suggestions.complete([*found, *equally_long(people, said)], told, said, passed)
    return FoundPlace(trace.frames[context.at or 0], "", _ranked(people, said), ordered)


def _forgotten(people: list[Origin], message: str) -> Iterator[Remedy]:
    """The argument that a line needed and that the user's call left at None."""
    exact = [one for one in people if one.exact]
    if "NoneType" in message and len(exact) == 1 and exact[0].passed is False and exact[0].default == "None":
        yield from map(give, settable(exact))


def _used(expression: ast.expr | None, context: NameContext) -> list[ast.expr]:
    return [*references(expression, context)] if expression is not None else []


def _at(context: NameContext) -> ast.expr | None:
    """The innermost whole expression of the statement at the line of a frame: the condition of an ``if``, what is assigned."""
    best: ast.expr | None = None
    for node in holding(context.source.tree, context.line):
        value = getattr(node, "test", None) or getattr(node, "iter", None) or getattr(node, "value", None)
        if not isinstance(value, ast.expr):
            continue
        if value.lineno <= context.line <= (value.end_lineno or value.lineno):
            best = value
    return best


def _origin(name: str, passed: dict[str, str]) -> Origin:
    return Origin(name, "argument", "", passed.get(name), True)


def _ranked(people: Iterable[Origin], message: str) -> list[Origin]:
    """The origins once each: what the message names and what the user passed before what is only behind the condition."""
    once: dict[str, Origin] = {}
    for one in people:
        if one.name.startswith("_") or one.name in ("self", "cls"):
            continue
        kept = once.get(one.name)
        if kept is None or (kept.value is None and one.value is not None):
            once[one.name] = one

    def weight(one: Origin) -> int:
        named = re.search(rf"(?<!\w){re.escape(one.name)}(?!\w)", message) is not None
        named = named or ("_" in one.name and names(message, one.name))
        return -(2 * named + bool(one.passed) + (one.kind in ("argument", "option")))

    return sorted(once.values(), key=weight)


def _changes_nothing(remedy: Remedy, values: dict[str, Any]) -> bool:
    """Whether a suggestion sets what is set already."""
    value = values.get(remedy.subject, UNKNOWN)
    return value is not UNKNOWN and remedy.code == f"{remedy.subject}={value!r}"
