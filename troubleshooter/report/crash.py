"""The values of variables in the last frames when a failure was raised, taken from crash facts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from troubleshooter.observe.model import Failure, Frame
from troubleshooter.observe.values import described, named_values, value_in
from troubleshooter.paths import shown_file
from troubleshooter.report.fill import safe
from troubleshooter.report.way import way
from troubleshooter.report.words import say

if TYPE_CHECKING:
    from troubleshooter.report.model import Report
    from troubleshooter.report.parts import FrameValues, ValueShown

MAX_VALUES = 8
"""At most this many variables of one frame are shown."""
MAX_CHARACTERS = 160
MAX_DEPTH = 3
"""Levels of dicts and lists in which tensors are looked for."""
_EXPRESSION = re.compile(
    r"(?<![\w.])[A-Za-z_]\w{0,80}(?:\.[A-Za-z_]\w{0,80}|\[\"[^\"\n]{1,60}\"\]|\['[^'\n]{1,60}'\]){0,6}"
)


def values_at_failure(failure: Failure) -> list[FrameValues]:
    """The variables in the frame that raised and then in the last frame of the user's own code; [] without crash facts."""
    raised = next((frame for frame in reversed(failure.frames) if frame.values), None)
    if raised is None:
        return []
    own = next((f for f in reversed(failure.frames) if f.values and _is_own(f)), None)
    found = [_of(frame) for frame in ((raised,) if own is None or own is raised else (raised, own))]
    return [one for one in found if one["values"]]


def lines(report: Report) -> list[str]:
    """The values as lines of text: for each frame a line with its place, then one line for each variable."""
    out = []
    for one in report.crash:
        place = f"`{one['file']}:{one['line']}`, `{one['function']}`"
        out.append(say("values-at", report.lang, place=place))
        out += [f"- `{value['name']}`: `{value['value']}`" for value in one["values"]]
    return out


def _is_own(frame: Frame) -> bool:
    """True if a frame belongs to no package. Code without a file (`exec`, a prompt) belongs to none."""
    return not any(place["package"] for place in way([frame]))


def _of(frame: Frame) -> FrameValues:
    place = next(iter(way([frame])), None)
    file = place["file"] if place is not None else _plain(shown_file(frame.file))
    shown = {"file": file, "line": frame.line, "function": _plain(frame.function)}
    values: list[ValueShown] = [
        {"name": _plain(name), "value": _plain(value)} for name, value in list(_values(frame).items())[:MAX_VALUES]
    ]
    return {**shown, "values": values}  # type: ignore[typeddict-item]


def _values(frame: Frame) -> dict[str, str]:
    """The variables that the frame's line of code names, in its order, then the other tensors. If the log does not show the
    line, all variables are given."""
    found: dict[str, str] = {}
    for expression in (match.group() for line in frame.shown[:4] for match in _EXPRESSION.finditer(line)):
        for part in _shorter(expression):
            if (value := value_in([frame], part)) is not None:
                found.setdefault(part, value)
                break
    for name, fact in frame.values.items():
        for part, inside in _tensors(name, fact):
            found.setdefault(part, described(inside))
    if (
        not frame.shown or not found
    ):  # the log does not show the line of code, or it names no variable, as a `raise` does
        for name, fact in named_values(frame.values):
            if told := described(fact):
                found.setdefault(name, told)
    return found


def _tensors(name: str, fact: object, depth: int = 0) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The variable if it is a tensor; if it is a dict or a list, the tensors in it."""
    if not isinstance(fact, dict) or depth > MAX_DEPTH:
        return
    if "shape" in fact and "dtype" in fact:
        yield name, fact
    items = fact.get("items")
    parts = items.items() if isinstance(items, dict) else enumerate(items if isinstance(items, list) else ())
    for key, inside in parts:
        yield from _tensors(f"{name}[{key!r}]", inside, depth + 1)


def _shorter(expression: str) -> Iterator[str]:
    """The expression, then without its last part, and so on: ``a.b.c``, ``a.b``, ``a``."""
    while expression:
        yield expression
        expression = re.sub(r"(?:\.\w+|\[[^\[\]]*\]|^\w+)$", "", expression)


def _plain(text: str) -> str:
    return safe(text, MAX_CHARACTERS).replace("`", "'")
