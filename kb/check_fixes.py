"""Checks of an entry's fixes: what a reader pastes has to run, to be whole, and to say what it may harm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kb.form import EntryFix, TranslatedFix
from kb.load import Loaded
from kb.problem import Problem
from kb.proof.blanks import blanks
from kb.proof.parsing import faults
from kb.proof.risks import understated
from kb.source import Document

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
    """Commands, code and sentences whose end YAML takes for a comment of its own, so that no reader sees it."""
    texts: list[tuple[Document, Sequence[EntryFix | TranslatedFix]]] = [(item.document, item.entry.fixes)]
    texts += [(one.document, one.text.fixes) for one in item.translated.values() if one.text is not None]
    for document, fixes in texts:
        lines = document.path.read_text(encoding="utf-8").splitlines() if fixes else []
        for number, fix in enumerate(fixes):
            for field in ("do", "why", "shell", "code"):
                if not getattr(fix, field, None):
                    continue
                place = ("fixes", number, field)
                line, column = document.mark(place)
                if _CUT_OFF.match(lines[line - 1][column - 1 :]):
                    text = "loses what follows ` #`: YAML takes it for a comment of its own"
                    step = "quote it" if field in ("do", "why") else f"write `{field}: |` and the text in the next line"
                    yield document.problem(place, text, step)


def open_blanks(item: Loaded) -> Iterator[Problem]:
    """Shell blocks that leave something to the reader without a word."""
    for number, fix in enumerate(item.entry.fixes):
        for said in blanks(fix):
            yield item.document.problem(("fixes", number, "shell"), said)
