"""Decide whether a template can have printed a message, and what filled its holes, in time linear in the message."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

Extent = Literal["whole", "inside", "beginning"]
"""``whole``: the template is the whole message. ``inside``: the message has other text around it. ``cut``: the message is only
the beginning of the template (its first line, or a text that was cut)."""

_SPACE = re.compile(r"\s+")
_CLUE = 8
"""The beginning of a text at the end of a cut message needs at least this many characters."""


class Fit(NamedTuple):
    """How a message fits a template."""

    quality: int
    """Literal characters without white space that agree."""
    extent: Extent
    values: tuple[str | None, ...]
    """The text in each hole; None for holes after the end of a cut message."""


def plain(text: str) -> str:
    """The text with each run of white space as one space, and none at its ends."""
    return _SPACE.sub(" ", text).strip()


def fit(message: str, literals: Sequence[str | None]) -> Fit | None:
    """How the message (as `plain` gives it) fits the template, or None."""
    texts, holes = _parts(literals)
    if not texts:
        return None
    alone = len(texts) == 1 and holes[0] and not holes[-1] and message.endswith(texts[0])
    begin = len(message) - len(texts[0]) if alone else message.find(texts[0])
    if begin < 0:
        return _cut(message, 0, texts, 0, holes) if holes[0] or texts[0].startswith(message) else None
    inside = bool(begin) and not holes[0]
    values: list[str | None] = [message[:begin]] if holes[0] else []
    at = begin + len(texts[0])
    for number, text in enumerate(texts[1:], 1):
        found = (
            len(message) - len(text) if number == len(texts) - 1 and not holes[-1] and message.endswith(text) else -1
        )
        if found < at:
            found = message.find(text, at)
        if found < 0:
            rest = _cut(message, at, texts, number, holes)
            return None if rest is None else rest._replace(values=(*values, *rest.values))
        values.append(message[at:found])
        at = found + len(text)
    if holes[-1]:
        values.append(message[at:])
    elif at < len(message):
        inside = True
    return Fit(_weight(texts), "inside" if inside else "whole", tuple(values))


def _parts(literals: Sequence[str | None]) -> tuple[list[str], list[bool]]:
    """The texts with plain white space, and whether there is a hole before each of them and after the last."""
    texts: list[str] = []
    holes = [False]
    for number, piece in enumerate(literals):
        text = _SPACE.sub(" ", piece) if piece is not None else ""
        text = text.lstrip() if number == 0 else text
        text = text.rstrip() if number == len(literals) - 1 else text
        if text:
            texts.append(text)
            holes.append(False)
        elif piece is None:
            holes[-1] = True
    return texts, holes


def _cut(message: str, at: int, texts: list[str], number: int, holes: list[bool]) -> Fit | None:
    """The fit of a message that ends in or before the text ``number``: its rest must be a hole's value and the beginning of the text."""
    text = texts[number]
    begin = message.rfind(text[:_CLUE], at) if holes[number] else at
    if begin < 0 and message.endswith(text.rstrip(), at):  # only the space behind it is missing
        begin = len(message) - len(text.rstrip())
    if begin >= 0 and text.startswith(message[begin:]):
        length = len(message) - begin
    elif holes[number] and number:
        begin, length = len(message), 0
    else:
        return None
    quality = _weight([*texts[:number], text[:length]])
    values: list[str | None] = [message[at:begin]] if holes[number] else []
    return Fit(quality, "beginning", (*values, *[None] * sum(holes[number + 1 :]))) if quality else None


def _weight(texts: Sequence[str]) -> int:
    return sum(len(text.replace(" ", "")) for text in texts)
