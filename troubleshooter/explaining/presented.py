"""An explanation in the form of the report: each text as it may be printed, arguments and suggestions as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from troubleshooter.explaining.found import FoundPlace
from troubleshooter.explaining.origin import Origin, is_own
from troubleshooter.explaining.place.indexed import KnownMessage
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.source.run_options import COMMAND
from troubleshooter.explaining.source.shown import code
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure, Frame
from troubleshooter.observe.values import value_in
from troubleshooter.paths import below_packages, shown_file
from troubleshooter.report.fill import safe

if TYPE_CHECKING:
    from troubleshooter.report.parts import Explained, ExplainedArgument, Suggestion

MAX_ARGUMENTS, MAX_SUGGESTIONS = 6, 4
SHORT = 200
"""Characters of a value or a line of code that is shown."""


def presented(failure: Failure, found: FoundPlace, listed: KnownMessage | None, lang: str) -> Explained:
    """The explanation as the report has it. ``listed``: what the index knows of the message, for the releases."""
    frames = failure.frames
    frame = found.frame or (frames[-1] if frames else None)
    mine = next((one for one in reversed(frames) if is_own(one)), None)
    below = below_packages(frame.path) if frame is not None else ""
    if found.basis == "index" and listed is not None:
        below = listed.place.path
    told = {
        "exception": failure.exception,
        "message": failure.message[:1000],
        "line": failure.line.number,
        "package": below.partition("/")[0].removesuffix(".py"),
        "file": below or (shown_file(frame.path) if frame is not None else ""),
        "function": frame.function if frame is not None else "",
        "source_line": frame.line if frame is not None else 0,
        "condition": found.condition,
        "arguments": [
            _argument(origin, frames, lang, mine=frame is None or is_own(frame))
            for origin in found.origins[:MAX_ARGUMENTS]
        ],
        "suggestions": [_suggestion(remedy, lang) for remedy in _once(found.remedies)[:MAX_SUGGESTIONS]],
        "own": {"file": shown_file(mine.path), "line": mine.line, "function": mine.function, "code": code(mine)[:SHORT]}
        if mine
        else None,
        "releases": {"first": listed.first if listed else None, "last": listed.last if listed else None},
        "places": found.places,
        "basis": found.basis,
    }
    return cast("Explained", _printable(told))


def _printable(value: Any) -> Any:
    """The same with each text as it may be printed: what a log says is not trusted."""
    if isinstance(value, str):
        return "\n".join(safe(line, 1000) for line in value.split("\n"))
    if isinstance(value, list):
        return [_printable(one) for one in value]
    return {key: _printable(one) for key, one in value.items()} if isinstance(value, dict) else value


def _once(several: Iterable[Remedy]) -> list[Remedy]:
    """Each suggestion once, where it came first."""
    out: dict[tuple[object, ...], Remedy] = {}
    for one in several:
        out.setdefault((one.code or one.key, one.values if one.code is None else ()), one)
    return list(out.values())


def _argument(origin: Origin, frames: Sequence[Frame], lang: str, *, mine: bool) -> ExplainedArgument:
    """One argument. ``mine``: whether the line that failed is the user's own."""
    if origin.passed is False:
        why, value = say("why-not-passed", lang), origin.default
    elif origin.passed and origin.place.startswith(COMMAND):
        why, value = say("why-command", lang, line=origin.place.removeprefix(COMMAND)), origin.value
    elif origin.passed and origin.place:
        why, value = say("why-other-line", lang, place=origin.place), origin.value
    elif origin.passed:
        why, value = say("why-passed", lang), origin.value
    elif origin.value is not None:
        why, value = say("why-message", lang), origin.value
    elif origin.kind == "environment":
        why, value = say("why-environment", lang), None
    elif origin.owner:
        key = "why-option" if origin.kind == "option" else "why-argument"
        why, value = say(key, lang, owner=origin.owner), None
    else:
        key = ("why-line" if mine else "why-failing-line") if origin.kind == "data" else "why-condition"
        key = key if frames else "why-named"
        why, value = say(key, lang), None
    if value is None:
        value = value_in(frames, origin.expression) or value_in(frames, origin.name)
    return {"name": origin.name, "value": value[:SHORT] if value else value, "why": why}


def _suggestion(remedy: Remedy, lang: str) -> Suggestion:
    return {"do": say(remedy.key, lang, **dict(remedy.values)), "code": remedy.code, "basis": remedy.basis}
