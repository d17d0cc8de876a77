"""What a variable of the last frames was, by crash facts."""

from __future__ import annotations

import re
from typing import Any

from kb.compiled_conditions import ValueCondition
from kb.placeholders import HOLE
from troubleshooter.match.context import Context
from troubleshooter.match.outcome import Evidence, Outcome
from troubleshooter.match.regex import search
from troubleshooter.observe.model import Frame
from troubleshooter.read.line import Line


def evaluate(condition: ValueCondition, context: Context) -> Outcome:
    """Whether a variable of the anchor's frames has everything that is asked for. The innermost frames come first."""
    asked = condition["asked"]
    said = f"value {condition['name']} " + ", ".join(f"{name} {given}" for name, given in asked.items())
    failure = context.anchor.failure if context.anchor else None
    frames = [frame for frame in failure.frames if frame.values] if failure is not None else []
    if not frames:
        return Outcome("unseen", said)
    from troubleshooter.observe.values import named_values, property_of  # few logs come with crash facts

    asked = {one: _filled(given, context.captured) for one, given in asked.items()}
    known = False
    for frame in reversed(frames):
        if condition["function"] not in (None, frame.function.rpartition(".")[2]):
            continue
        for name, fact in named_values(frame.values):
            if not _whole(condition["name"], name):
                continue
            found = {one: property_of(fact, one) for one in asked}
            if None in found.values():
                continue  # a number has no dtype
            known = True
            captured: dict[str, str] = {}
            if all(_fits(given, found[one], captured) for one, given in asked.items()):
                return Outcome("held", said, [_evidence(frame, name, fact)], captured)
    return Outcome("contradicted" if known else "unseen", said)


def _filled(given: str | bool, captured: dict[str, str]) -> str | bool:
    """A pattern with the values captured so far, which stand for themselves; what was not captured stays as it is."""
    if isinstance(given, bool):
        return given
    return HOLE.sub(lambda hole: re.escape(captured[hole[1]]) if hole[1] in captured else hole[0], given)


def _fits(given: str | bool, found: Any, captured: dict[str, str]) -> bool:
    if isinstance(given, bool):
        return given is found
    match = search(f"^(?:{given})$", str(found))
    if match is None or match.said != str(found):
        return False
    captured.update(match.captured)
    return True


def _whole(pattern: str, text: str) -> bool:
    match = search(f"^(?:{pattern})$", text)
    return match is not None and match.said == text


def _evidence(frame: Frame, name: str, fact: Any) -> Evidence:
    from troubleshooter.observe.crash_facts import BASIS
    from troubleshooter.observe.values import described

    text = f"{name}: {described(fact)} ({frame.file.replace(chr(92), '/').rpartition('/')[2]}:{frame.line}, {frame.function})"
    return Evidence(Line(text, 0, BASIS), text, "the value in this frame")
