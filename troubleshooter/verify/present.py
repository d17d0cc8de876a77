"""A verdict for the terminal. The JSON form is the verdict's own (`Verdict.as_json`)."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from troubleshooter.streams import close_output
from troubleshooter.verify.verdict import FixResult, Verdict
from troubleshooter.verify.words import say

__all__ = ["Progress", "plain", "shown"]

_COLOURS = {"confirmed": "31;1", "kind-confirmed": "33;1", "not-here": "32;1", "cannot-tell": "33;1"}


def shown(
    verdict: Verdict, title: str, why: str, lang: str, code: str = "", *, log: bool = False, colour: bool | None = None
) -> str:
    """The whole answer as text.

    ``why`` is the word for how the environment was found, ``code`` are the lines to run by hand, and ``log`` says
    whether a log was asked about (else there is nothing to be the same environment as).
    """
    painted = _coloured() if colour is None else colour

    def paint(text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if painted else text

    lines = [
        f"{paint(say(verdict.verdict, lang).upper(), _COLOURS[verdict.verdict])}  {verdict.entry}: {plain(title)}",
        f"  {verdict.reason}",
    ]
    if verdict.same_environment is False and verdict.verdict != "kind-confirmed":
        lines.append("  " + paint(say("other-environment", lang), "33"))
    if verdict.fixes and verdict.verdict in ("confirmed", "kind-confirmed"):
        lines += ["", paint(say("fixes", lang), "1")]
        for number, fix in enumerate(verdict.fixes, 1):
            lines += _fix(number, fix, lang, paint)
    for mechanism in verdict.mechanism:
        lines += ["", paint(say("demonstration", lang), "1"), f"  {mechanism.get('case')}: {mechanism.get('text')}"]
    if verdict.notes:
        lines += ["", paint(say("notes", lang), "1"), *(f"  - {note}" for note in verdict.notes)]
    if verdict.tail and verdict.verdict == "cannot-tell":
        lines += ["", *(f"  | {line}" for line in verdict.tail.strip().splitlines()[-6:])]
    if code:
        lines += ["", paint(say("by-hand", lang), "1"), *(f"    {line}".rstrip() for line in code.splitlines())]
    same = {True: "same-yes", False: "same-no", None: "same-unknown"}[verdict.same_environment]
    environment = verdict.environment
    named = ("torch", "transformers", "accelerate", "peft", "trl", "bitsandbytes")
    stack = " ".join(f"{n} {environment['versions'][n]}" for n in named if n in environment["versions"])
    found = say(why, lang) + (f"; {say(same, lang)}" if log else "")
    lines += ["", paint(say("asked", lang, python=environment["python"], why=found), "2")]
    if verdict.basis == "run":
        about = [str(environment["device"]), f"{verdict.seconds:.1f} s", f"{verdict.peak_mb} MB"]
    else:
        about = [say("by-versions", lang)]
    lines.append(paint(" · ".join([stack, *about] if stack else about), "2"))
    return "\n".join(lines) + "\n"


def _fix(number: int, fix: FixResult, lang: str, paint: Any) -> list[str]:
    styles = {True: ("removed", "32"), False: ("not-removed", "31;1"), None: ("not-tried", "2")}
    key, style = styles[fix.removes_symptom]
    lines = [
        f"  {number}. {plain(fix.do)}",
        f"     {paint(say(key, lang), style)}" + (f" - {fix.text}" if fix.text else ""),
    ]
    price = _price(fix.cost, lang)
    return [*lines, f"     {price}"] if price else lines


def plain(text: str) -> str:
    """A text of an entry without the backticks around code."""
    return re.sub(r"`([^`\n]+)`", r"\1", text)


def _price(cost: Any, lang: str) -> str:
    """What a fix costs, as measured by the run."""
    parts = []
    for name, key in (("seconds_per_step", "steps"), ("peak_mb", "memory")):
        if name in cost:
            parts.append(say(key, lang, without=cost[name]["without"], with_fix=cost[name]["with"]))
    if not parts and "seconds" in cost:
        parts.append(say("fixed-ran", lang, seconds=cost["seconds"]))
    if not parts:
        return ""
    return f"{say('measured-here', lang, on=cost.get('measured_on', ''))}: " + ", ".join(parts)


def _coloured() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


class Progress:
    """One line on the terminal that is rewritten while the probe runs; nothing is printed without a terminal."""

    def __init__(self, quiet: bool) -> None:
        self._live = not quiet and sys.stderr.isatty()

    def __call__(self, text: str) -> None:
        if self._live:
            sys.stderr.write(f"\r\x1b[K… {text.splitlines()[0][:100] if text else ''}")
            sys.stderr.flush()

    def done(self) -> None:
        if self._live:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def write(text: str) -> None:
    """Print to standard output. A reader that has gone away (`| head`) is no error."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        close_output()
