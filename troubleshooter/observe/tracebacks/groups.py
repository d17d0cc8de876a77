"""Exception groups: Python draws rails (`` | ``) before their lines. Once these are removed, each exception is read
like any other."""

from __future__ import annotations

from kb import lazy
from troubleshooter.observe.tracebacks.edits import LineEdits
from troubleshooter.observe.tracebacks.frames import HEADER

TOP = "  + Exception Group Traceback (most"
"""How the first line of a group begins."""
RAIL = lazy.compile(r"\s*\| ?(?P<text>.*)$")
"""A line within a group."""
_TOP = lazy.compile(r"\s*\+ Exception Group Traceback \(most recent call last\)")
_RULE = lazy.compile(r"\s*\+[-+]+(?: \d+ -+| \.\.\. -+)?$")


def strip_group_rails(edits: LineEdits) -> None:
    """Take the rails of exception groups off the lines."""
    if not any("Exception Group Traceback" in line.text for line in edits.lines):
        return
    inside = False
    for at, line in enumerate(edits.lines):
        text = line.text
        if _TOP.match(text):
            inside, text = True, HEADER + ":"
        elif inside:
            if _RULE.match(text):
                text = ""
            elif found := RAIL.match(text):
                text = found["text"].lstrip("|") if found["text"].startswith("|") else found["text"]
            else:
                inside = not text.strip()
        if text != line.text:
            edits.replace(at, text, "group rail")
