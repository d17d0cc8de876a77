"""What an explanation names: an argument, an option or a variable that the user sets; and which frames are the user's own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Literal, NamedTuple

from troubleshooter import paths
from troubleshooter.observe.model import Frame

Kind = Literal["argument", "option", "attribute", "environment", "data"]


class Origin(NamedTuple):
    """Something that the user sets, or that lies behind a condition.

    ``kind``: ``argument`` of a call, ``option`` of a configuration object, ``attribute`` of an object, variable of the
    ``environment``, or ``data`` of the user's own.
    ``owner``: the function or class that takes it, "" where that is not known. ``value``: as the user's code or the message
    shows it. ``passed``: whether the user's call passes it; None where the log does not show that.
    ``expression``: how the library's source names it in the place. ``exact``: whether the name there has this very value; it
    may also be computed from it. ``each``: whether it has one item after the other. ``place``: the line of the user's file
    that gives the value, where that is another one than the traceback shows.
    """

    name: str
    kind: Kind
    owner: str = ""
    value: str | None = None
    passed: bool | None = None
    default: str | None = None
    annotation: str | None = None
    expression: str = ""
    exact: bool = True
    lost: bool = False
    each: bool = False
    place: str = ""


Origins = Callable[[ast.expr], list[Origin]]
"""The origins of an expression in the condition."""


def is_own(frame: Frame) -> bool:
    """Whether a frame is the user's own code."""
    return paths.is_own(frame.path)
