"""What the pages say: their section of the catalogue, the names of areas, and which languages have pages."""

from __future__ import annotations

from kb.text.catalog import ENGLISH, Section, language, languages

say = Section("pages")
_area = Section("areas")

LANGUAGES = tuple(code for code in languages() if say.name in language(code).phrases)
"""The languages that the pages are written in: those whose module has a section for them."""


def area_name(area: str, lang: str) -> str:
    """An area as people read it; a team's own area keeps its folder's name."""
    return _area.find(area, lang) or area


def place(lang: str) -> str:
    """The folder of a language's pages, with its slash: "" for English."""
    return "" if lang == ENGLISH else f"{lang}/"
