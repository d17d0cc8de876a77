"""What a rule makes of a message: the sentence with its values, the argument at fault, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from troubleshooter.explaining.remedy import Remedy


class MessageAnswer(NamedTuple):
    """A rule's answer: the sentence, the argument at fault with its value, and what to do."""

    key: str
    values: dict[str, str]
    name: str
    value: str | None = None
    remedies: tuple[Remedy, ...] = ()
    phrases: Mapping[str, str] = MappingProxyType({})
    """Values of the sentence that are phrases themselves, by their keys."""


Rule = Callable[[re.Match[str]], MessageAnswer | None]
"""What makes an answer of a match; None where the message fits the pattern and yet tells nothing."""
MessageRule = tuple[str, re.Pattern[str], Rule]
"""The names of exceptions, a pattern of the message, and the rule."""


def make_rule(key: str, name: str, *fixes: tuple[str, str]) -> Rule:
    """A rule whose sentence is filled with the pattern's groups. ``name``: the group of the name at fault; ``fixes``: phrases and code."""

    def rule(m: re.Match[str]) -> MessageAnswer:
        values = m.groupdict("")
        remedies = tuple(Remedy(word, (("x", code),), code, "rule") for word, code in fixes)
        return MessageAnswer(key, values, values.get(name, ""), None, remedies)

    return rule
