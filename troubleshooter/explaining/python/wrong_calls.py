"""What Python says when a function is called with other arguments than it takes, and how its ``def`` can take them.

`callbacks` asks for functions that the user passed to a library, `own_methods` for methods of the user's own classes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kb import lazy
from troubleshooter.explaining.origin import Origin
from troubleshooter.explaining.remedy import Remedy
from troubleshooter.explaining.words import say

UNEXPECTED, MORE, FEWER = "cb-unexpected", "cb-more", "cb-fewer"
_MESSAGES = {
    UNEXPECTED: r"got an unexpected keyword argument '(?P<x>\w{1,80})'",
    MORE: r"takes (?P<most>\d{1,3}) positional arguments? but (?P<given>\d{1,3}) (?:was|were) given",
    FEWER: r"missing \d{1,3} required (?:positional|keyword-only) arguments?: (?P<names>'[^\n]{1,200})",
}


class WrongCall(NamedTuple):
    """A message taken apart. ``key``: its kind, and that of its phrase. ``names``: the arguments that it names."""

    key: str
    found: re.Match[str]
    names: list[str]

    @property
    def _told(self) -> dict[str, str]:
        return self.found.groupdict("")

    def condition(self, function: str, lang: str) -> str:
        """What happened, in words."""
        told = self._told
        listed = ", ".join(self.names)
        return say(self.key, lang, f=function, x=listed, most=told.get("most", ""), given=told.get("given", ""))

    def remedy(self, function: str, definition: str) -> Remedy:
        """How the function can take the call. ``definition``: the first line of its ``def`` with ``**kwargs``."""
        word, code = {
            UNEXPECTED: ("cb-take", definition),
            MORE: ("cb-take-number", None),
            FEWER: ("cb-default", ", ".join(f"{name}=None" for name in self.names)),
        }[self.key]
        said = self._told.get("given", "") or ", ".join(self.names)
        return Remedy(word, (("x", function), ("y", said)), code, "rule")

    @property
    def arguments(self) -> list[Origin]:
        return [Origin(name, "data") for name in self.names]


def patterns(function: str) -> Mapping[str, re.Pattern[str]]:
    """The messages about a function whose name matches the pattern, by their kind."""
    return {key: lazy.compile(function + message) for key, message in _MESSAGES.items()}


def read(message: str, of: Mapping[str, re.Pattern[str]]) -> WrongCall | None:
    """A message taken apart by one of the patterns; None for another message."""
    for key, pattern in of.items():
        if (found := pattern.match(message)) is not None:
            told = found.groupdict("")
            return WrongCall(
                key, found, [told["x"]] if key == UNEXPECTED else re.findall(r"'(\w+)'", told.get("names", ""))
            )
    return None
