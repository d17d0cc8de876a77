"""The phrases of the pages, the names of areas, and the languages that have pages."""

from __future__ import annotations

from kb.text.catalog import ENGLISH, Section, language, languages

say = Section("pages")
_area = Section("areas")

LANGUAGES = tuple(code for code in languages() if say.name in language(code).phrases)
"""The languages that the pages are written in: those whose module has a section for them."""


def area_name(area: str, lang: str) -> str:
    """The name of an area for people. An area of a team keeps its folder's name."""
    return _area.find(area, lang) or area


def place(lang: str) -> str:
    """The folder of a language's pages, with its slash: "" for English."""
    return "" if lang == ENGLISH else f"{lang}/"
