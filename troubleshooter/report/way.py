"""The calls that led to an exception: for each package the last frame before the next package, and the run's own last
frame."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Literal

from kb import lazy
from troubleshooter.observe.model import Frame
from troubleshooter.paths import installed_file, shown_file
from troubleshooter.report.fill import safe
from troubleshooter.report.words import say

if TYPE_CHECKING:
    from troubleshooter.report.parts import Place

STEPS = 4
"""At most this many frames are shown; the innermost and the run's own are always among them."""

_PASSING_ON = ("torch", "IPython", "ipykernel")
_STANDARD = lazy.compile(r".*/python3(?:\.\d+)?/(([A-Za-z_]\w*)(?:/.+|\.py))$")
_NO_FILE = lazy.compile(r"<(?!ipython-input|module)")


def way(frames: list[Frame]) -> list[Place]:
    """The frames to show, the innermost first. ``package`` is "" for the user's own code.

    Code that only passes calls on (the standard library, torch, a notebook's kernel) is shown only if the exception was raised in it.
    """
    found = [_place(frame) for frame in frames if not _NO_FILE.match(frame.file)]
    told = [(place, plumbing) for n, (place, plumbing) in enumerate(found, 1) if n == len(found) or not plumbing]
    last = [list(group)[-1][0] for _, group in groupby(told, key=lambda one: one[0]["package"])]
    last.reverse()
    own = next((place for place in last if not place["package"]), None)
    shown = last[:STEPS]
    if own is not None and own not in shown:
        shown[-1] = own
    return shown


def _place(frame: Frame) -> tuple[Place, bool]:
    """A frame as it is shown, and True if its code only passes calls on."""
    file, package, standard = shown_file(frame.path), "", False
    if installed := installed_file(file):
        package, file = installed
    elif found := _STANDARD.match(file):
        file, package, standard = found[1], found[2], True
    place: Place = {
        "file": safe(file, 200),
        "line": frame.line,
        "function": safe(frame.function, 100),
        "package": package,
    }
    return place, standard or package in _PASSING_ON


def steps(places: list[Place], lang: str, innermost: Literal["raised", "stood"] = "raised") -> list[str]:
    """The calls in words, one line each. ``innermost``: the key of the phrase for the first of them."""
    out = []
    for number, place in enumerate(places):
        where = f"{place['file']}:{place['line']}" if place["line"] else place["file"]
        text = f"{where}, {place['function']}" if place["function"] else where
        key = ("called" if number else innermost) + ("" if place["package"] else "-own")
        out.append(say(key, lang, place=text))
    return out
