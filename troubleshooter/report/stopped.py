"""A run that was stopped from outside: who stopped it, where it stood, since when it was silent, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kb.text.catalog import language
from troubleshooter.observe.progress import run_survived
from troubleshooter.report.way import steps, way
from troubleshooter.report.words import say

if TYPE_CHECKING:
    from troubleshooter.observe.model import Failure
    from troubleshooter.observe.observations import Observations
    from troubleshooter.read.sources import Stop
    from troubleshooter.report.parts import Stopped

INTERRUPT = "KeyboardInterrupt"
"""What Python raises at Ctrl-C."""


def stopped(observations: Observations, stop: Stop | None) -> Stopped | None:
    """How the run was stopped; None if it was not. ``stop``: the signal that arrived while its output was read; without one
    the log is asked.

    A `KeyboardInterrupt` after which the run went on did not stop it.
    """
    seen = [f for f in observations.failures if f.type == INTERRUPT and not run_survived(observations.progress, f)]
    if not seen and stop is None:
        return None
    at = _telling(seen)
    return {
        "by": stop.signal if stop is not None else "SIGINT",
        "silent_s": round(stop.silent_s, 1) if stop is not None and stop.silent_s is not None else None,
        "line": at.line.number if at is not None else None,
        "at": way(at.frames) if at is not None else [],
    }


def _telling(seen: list[Failure]) -> Failure | None:
    """The last interrupt whose traceback has a frame of the user's own code, else the last one. Worker processes print
    interrupts, too."""
    own = [f for f in seen if any(not place["package"] for place in way(f.frames))]
    found = own or seen
    return found[-1] if found else None


def headline(told: Stopped, lang: str) -> str:
    """Who stopped the run, as one sentence without its stop."""
    return say("stopped", lang, signal=say(told["by"], lang))


def lines(told: Stopped, lang: str) -> list[str]:
    """Since when the run was silent and where it stood, a sentence or place each."""
    quiet = silence(told, lang).strip()
    return ([quiet] if quiet else []) + (
        steps(told["at"], lang, "stood") or [say("stood-nowhere", lang) + say("stop", lang)]
    )


def silence(told: Stopped, lang: str) -> str:
    """How long the run had been silent, as a sentence that follows another one; "" if the run was not watched."""
    if told["silent_s"] is None:
        return ""
    return language(lang).between + say("silent", lang, time=duration(told["silent_s"], lang)) + say("stop", lang)


def advice(told: Stopped, lang: str, *, watched: bool = False) -> list[str]:
    """What to do next. A run that is ``watched`` for hangs needs no advice on how to find one."""
    hung = [] if watched else ["stopped-hung"]
    who = ["stopped-asked"] if told["by"] != "SIGINT" else []
    return [say(key, lang) for key in (*hung, *who)]


def duration(seconds: float, lang: str) -> str:
    """A duration such as ``42 s``, ``3 min 5 s`` or ``2 h 10 min``."""
    whole = round(seconds)
    if whole < 60:
        return say("seconds", lang, s=whole)
    if whole < 3600:
        return say("minutes", lang, m=whole // 60, s=whole % 60)
    return say("hours", lang, h=whole // 3600, m=whole % 3600 // 60)
