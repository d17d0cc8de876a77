"""Checks that a translation says the same as the English text, as far as versions and options show it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kb.form import Entry, Translation
from kb.load import Loaded, english_hash
from kb.problem import Problem

_EXACT = re.compile(
    r"(?<![A-Za-z0-9_.-])v?(\d+(?:\.\d+)+(?!\d|\.\d| ?(?:million|billion|[\u4e07\u4ebf]))|--[A-Za-z][A-Za-z0-9_-]*)"
)
"""Versions and options, which are the same in every language. A number before a word for a power of ten may be written otherwise: the two
characters stand for ten thousand and for a hundred million."""


def differing(item: Loaded) -> Iterator[Problem]:
    """Versions and options that only one of two languages names. A title has no room for all, and may leave them out; a stale
    translation has to be read again anyway."""
    now = english_hash(item.entry)
    for code, text in item.translations.items():
        if text.of != now:
            continue
        for place, english, translated in _pairs(item.entry, text):
            said, told = set(_EXACT.findall(english)), set(_EXACT.findall(translated))
            if said != told:
                lacks = [f"lacks {one}" for one in sorted(said - told)]
                adds = [f"names {one}" for one in sorted(told - said)]
                message = f"{', '.join(lacks + adds)}, other than the English text"
                yield item.translated[code].document.problem(place, message, "say the same in both")


def _pairs(entry: Entry, text: Translation) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """The texts of an entry with their translations, and where the translation stands."""
    yield ("summary",), entry.summary or "", text.summary or ""
    yield ("cause",), entry.cause, text.cause
    for number, (fix, translated) in enumerate(zip(entry.fixes, text.fixes, strict=False)):
        yield ("fixes", number, "do"), fix.do, translated.do
        yield ("fixes", number, "why"), fix.why or "", translated.why or ""
