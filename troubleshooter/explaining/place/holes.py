"""The values that a message shows for the holes of its template, and what it calls them."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from typing import Any

import re2

from kb import lazy

_LABEL = lazy.compile(r"(?<![\w.])`?([A-Za-z_]\w+)`?(?: ?[=:] ?| \()[`'\"]?$")
"""The end of a text that names the value which comes next."""


def filled(template: tuple[Any, ...], message: str) -> dict[str, str]:
    """The values that a message shows for the holes of its template, by the holes' source; empty where it does not fit.

    RE2 looks for them, because it is linear: Python's `re` would try each end of a hole with each end of the next one.
    """
    pattern, names = "(?s)", []
    for piece in template:
        if isinstance(piece, str):
            pattern += r"\s+".join(re2.escape(word) for word in re.split(r"\s+", piece))
        else:
            pattern += "(.*?)"
            names.append(piece.expression)
    try:
        found = re2.fullmatch(pattern.strip(), message.strip())
    except re2.error:  # a template that is too large
        return {}
    if found is None:
        return {}
    return {
        name: value.strip() for name, value in zip(names, found.groups(), strict=True) if name and _is_expression(name)
    }


def labels(template: tuple[Any, ...]) -> dict[str, str]:
    """What a message calls the values that it shows, by the source of its holes: ``test_size = {n}``, ``(size={n})``."""
    out: dict[str, str] = {}
    for before, hole in pairwise(template):
        if isinstance(before, str) and not isinstance(hole, str) and (found := _LABEL.search(before)):
            out[hole.expression] = found[1]
    return out


def _is_expression(text: str) -> bool:
    try:
        ast.parse(text, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True
