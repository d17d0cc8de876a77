"""The catalogue of phrases: what the program says, by language, section and key.

A language is one module in `kb.text.languages`. Only the language that is asked for is imported, and English once it lacks
a phrase.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module

from kb.errors import TroubleshootError
from kb.text import languages as package

TYPE_CHECKING = False  # as in `typing`, which need not be imported for it
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ENGLISH = "en"
SHARED = "words"
"""The section whose phrases every other section may use."""


class BrokenLanguage(TroubleshootError):
    """A module of a language that Python cannot read, or that lacks what every language says of itself."""


class Language:
    """A language: its two-letter ``code``, its properties, and the phrases that it has, by section and key."""

    __slots__ = ("between", "code", "english_name", "every_entry", "html_lang", "name", "phrases", "plural")

    def __init__(self, code: str) -> None:
        """Import the language's module. Raises ModuleNotFoundError if there is none, BrokenLanguage if it cannot be used."""
        try:
            module = import_module(f"{package.__name__}.{code}")
            name, phrases = module.NAME, module.PHRASES
        except SyntaxError as error:
            raise BrokenLanguage(
                f"{error.filename}:{error.lineno}: {error.msg}; mend the file of the language"
            ) from None
        except AttributeError as error:
            raise BrokenLanguage(
                f"kb/text/languages/{code}.py: {error.name} is missing; en.py shows what it holds"
            ) from None
        self.code = code
        self.name: str = name
        self.phrases: Mapping[str, Mapping[str, str]] = phrases
        self.html_lang: str = getattr(module, "HTML_LANG", code)
        """The language's tag on web pages."""
        self.between: str = getattr(module, "BETWEEN", " ")
        """The text between two words or sentences."""
        self.every_entry: bool = getattr(module, "EVERY_ENTRY", False)
        """True if each shipped entry must be translated into the language."""
        self.english_name: str = getattr(module, "ENGLISH_NAME", self.name)
        """What English calls it: for authors, whose messages are English."""
        self.plural: Callable[[int], str] | None = getattr(module, "plural", None)
        """From a count to the ending of the key that is used for it."""

    def find(self, section: str, key: str, count: object = None) -> str | None:
        """The phrase with its placeholders, or None. A phrase about a ``count`` may have separate forms for some counts."""
        own = self.phrases.get(section, {})
        if isinstance(count, int) and self.plural is not None and (ending := self.plural(count)):
            found = own.get(f"{key}-{ending}")
            if found is not None:
                return found
        return own.get(key)


@cache
def languages() -> tuple[str, ...]:
    """The codes of the languages that the program speaks, English first."""
    names = {name.partition(".")[0] for folder in package.__path__ for name in os.listdir(folder)}
    codes = sorted(name for name in names if len(name) == 2 and name.isalpha())
    return (ENGLISH, *(code for code in codes if code != ENGLISH))


@cache
def language(code: str) -> Language:
    """A language by its code; English if the program does not have it."""
    return Language(code if code in languages() else ENGLISH)


def of_locale(name: str) -> str:
    """The code of the language that a locale such as ``zh_CN.UTF-8`` or ``zh-Hans`` asks for; English where the program does
    not speak it."""
    code = name.lower()
    for end in "_-.@":
        code = code.partition(end)[0]
    return code if code in languages() else ENGLISH


class Section:
    """The phrases of one part of the program: ``say = Section("report")``, then ``say("do", lang)``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, key: str, lang: str, **values: object) -> str:
        """A phrase in a language, its placeholders filled with the values. Raises KeyError if English has no such phrase."""
        text = self.find(key, lang, values.get("count"))
        if text is None:
            raise KeyError(f"no phrase {key!r} in section {self.name!r} of kb/text/languages/{ENGLISH}.py")
        return text.format(**values) if values else text

    def find(self, key: str, lang: str, count: object = None) -> str | None:
        """A phrase with its placeholders: of this section or the shared one, in the language or else in English."""
        for code in (lang, ENGLISH):
            spoken = language(code)
            for section in (self.name, SHARED):
                if (found := spoken.find(section, key, count)) is not None:
                    return found
        return None
