"""Checks of an entry's fixes: what a reader pastes has to run, to be whole, and to say what it may harm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.load import Loaded
from kb.problem import Problem
from kb.proof.blanks import blanks
from kb.proof.parsing import faults
from kb.proof.risks import understated

_CUT_OFF = re.compile(r"\w+: +[^\s|>'\"].*?\s#")
"""An unquoted value on the line of its key, and a comment behind it."""


def unpasteable(item: Loaded) -> Iterator[Problem]:
    """Problems of fixes whose code or command fails when it is pasted."""
    for number, fix in enumerate(item.entry.fixes):
        for fault in faults(fix):
            yield item.document.problem(("fixes", number, fault.field), fault.message, "correct it, or set `language`")


def mislabelled(item: Loaded) -> Iterator[Problem]:
    """Fixes that call themselves safe and are not."""
    for number, fix in enumerate(item.entry.fixes):
        for one in understated(fix):
            step = f"set `risk: {one.risk}`, or say in a comment why it is harmless here"
            yield item.document.problem(("fixes", number), f"is not safe: it {one.does}", step)


def cut_off(item: Loaded) -> Iterator[Problem]:
    """Commands and code whose comment YAML takes for its own, so that no reader sees it."""
    wanted = [
        (number, field)
        for number, fix in enumerate(item.entry.fixes)
        for field in ("shell", "code")
        if getattr(fix, field)
    ]
    lines = item.document.path.read_text(encoding="utf-8").splitlines() if wanted else []
    for number, field in wanted:
        place = ("fixes", number, field)
        line, column = item.document.mark(place)
        if _CUT_OFF.match(lines[line - 1][column - 1 :]):
            text = "loses what follows ` #`: YAML takes it for a comment of its own"
            yield item.document.problem(place, text, f"write `{field}: |` and the text in the next line")


def open_blanks(item: Loaded) -> Iterator[Problem]:
    """Shell blocks that leave something to the reader without a word."""
    for number, fix in enumerate(item.entry.fixes):
        for said in blanks(fix):
            yield item.document.problem(("fixes", number, "shell"), said)
