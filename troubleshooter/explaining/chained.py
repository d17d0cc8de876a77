"""Which exception of a chain is explained: the last one or, where that only passes on another one, the one before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from troubleshooter.explaining.origin import is_own
from troubleshooter.explaining.words import say
from troubleshooter.observe.model import Failure
from troubleshooter.report.fill import safe

if TYPE_CHECKING:
    from troubleshooter.report.parts import Explained

MAX_CAUSES = 5
"""Exceptions that are looked at besides the last one."""
SHORT = 200
"""Characters of an exception that are shown."""


def of_chain(failure: Failure, explain: Callable[[Failure], Explained | None], lang: str) -> Explained | None:
    """The explanation of an exception or, where that gives no reason, of the one that it was raised from or during.

    ``explain`` explains one exception alone.
    """
    failure = _first_raised(failure)
    found = explain(failure)
    cause, left = failure.cause, MAX_CAUSES
    while left and cause is not None and (found is None or _says_nothing(found, lang)):
        before = explain(cause)
        named = found is not None and bool(found["arguments"])  # then the cause has to be a thing that can be seen
        if before is not None and not _says_nothing(before, lang) and (before["basis"] == "rule" or not named):
            text = before["exception"] + (f": {before['message']}" if before["message"] else "")
            before["condition"] = say("of-the-cause", lang, told=before["condition"], e=_short(text))
            return before
        cause, left = cause.cause, left - 1
    first = failure.cause
    if found is not None and found["condition"] and first is not None and _adds(first, failure):
        found["condition"] = say("after-another", lang, told=found["condition"], e=_short(first.text))
    return found


def _first_raised(failure: Failure) -> Failure:
    """The exception where it was raised first, if this one only passes it on with the same words: the pool of
    ``datasets.map`` raises in its parent what a worker raised, and shows the worker's traceback as the cause."""
    for _ in range(MAX_CAUSES):
        cause = failure.cause
        if cause is None or not cause.frames or (cause.type, cause.message) != (failure.type, failure.message):
            break
        if any(map(is_own, failure.frames)) and not any(map(is_own, cause.frames)):
            break  # it was raised, caught and raised again below one call of the user's, which only this one shows
        failure = cause
    return failure


def _says_nothing(found: Explained, lang: str) -> bool:
    """Whether an explanation gives a place without its condition."""
    return found["condition"] in ("", say("passes-on", lang), say("own-raise", lang))


def _adds(first: Failure, last: Failure) -> bool:
    """Whether the exception that came before says something that the last one does not repeat."""
    return bool(first.frames and first.exception) and not (first.message and first.message in last.message)


def _short(text: str) -> str:
    text = safe(text.split("\n")[0], 1000).replace("`", "'")
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"
