"""Finds the patterns and version ranges of an entry, in whichever field they are, and checks each.

The type of a field says which check applies (`kb.conditions.base.TextCheck`), so a new kind of condition is checked as
soon as its form uses such a type.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from kb import patterns, versions
from kb.conditions.base import ConditionForm, Part, TextCheck
from kb.error_words import weight
from kb.problem import Problem
from kb.source import Document, Place


def problems(part: Part, document: Document) -> Iterator[Problem]:
    """The problems of all patterns and ranges of a part and of the parts inside it, each at its line of the document."""
    for place, text, check in texts(part):
        for message, hint in _wrong_range(text) if check is TextCheck.RANGE else _wrong_pattern(text, check):
            yield document.problem(place, message, hint)


def texts(part: Part) -> Iterator[tuple[Place, str, TextCheck]]:
    """Every text that must be checked: its place in the document, the text, and the check."""
    for name, key, check in _fields(type(part)):
        yield from _inside(getattr(part, name), (key,), check)


def own_wordings(condition: ConditionForm) -> list[str]:
    """The patterns by whose words a condition is found, without those of conditions inside it."""
    return [
        text
        for name, key, check in _fields(type(condition))
        if not _holds_conditions(value := getattr(condition, name))
        for _, text, asked in _inside(value, (key,), check)
        if asked is TextCheck.WORDING
    ]


def _holds_conditions(value: Any) -> bool:
    return isinstance(value, ConditionForm) or (isinstance(value, list) and any(map(_holds_conditions, value)))


def _inside(value: Any, place: Place, check: TextCheck | None) -> Iterator[tuple[Place, str, TextCheck]]:
    if isinstance(value, Part):
        for inner, text, asked in texts(value):
            yield (*place, *inner), text, asked
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _inside(one, (*place, key), check)
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _inside(one, (*place, number), check)
    elif isinstance(value, str) and check is not None:
        yield place, value, check


@cache
def _fields(form: type[Part]) -> tuple[tuple[str, str, TextCheck | None], ...]:
    """The name of each field, its key in the document, and the check that its type asks for."""
    return tuple(
        (name, field.alias or name, next(iter(_checks((*field.metadata, field.annotation))), None))
        for name, field in form.model_fields.items()
    )


def _checks(annotations: tuple[Any, ...]) -> Iterator[TextCheck]:
    """The checks in a type and in the types it is made of. Forms inside it are skipped, because `texts` visits them."""
    for one in annotations:
        if isinstance(one, TextCheck):
            yield one
        elif not (isinstance(one, type) and issubclass(one, Part)):
            yield from _checks(get_args(one))


def _wrong_pattern(text: str, check: TextCheck) -> Iterator[tuple[str, str]]:
    if error := patterns.syntax_error(text):
        yield f"not a linear-time pattern: {error}", f"in {text!r}"
    elif check is TextCheck.WORDING:
        found = patterns.literals(text)
        if not found or min(map(weight, found)) < patterns.MIN_LITERAL:
            yield (
                f"no literal of {patterns.MIN_LITERAL} characters in every match of {text!r}",
                "add the words around it",
            )


def _wrong_range(text: str) -> Iterator[tuple[str, str]]:
    if "<<" in text:
        return  # filled in from a table row when it is matched
    try:
        if versions.dead(text):
            yield f"no version lies in {text!r}", "turn a comparison round"
    except ValueError as error:
        yield str(error), "expected a PEP 440 range such as >=4.50,<4.51"
