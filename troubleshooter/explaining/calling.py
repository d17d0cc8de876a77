"""The line that called an operation, and the answers of rules about it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NamedTuple

from troubleshooter.observe.model import Frame


class CallingLine(NamedTuple):
    """The line that called the operation: what it was called on, and with what."""

    frame: Frame | None
    call: ast.Call | None
    operands: tuple[str, ...]
    """The object of a method, the arguments, or both sides of an operator, as source."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Both sides of each operator of the line."""
    subscripts: tuple[ast.Subscript, ...] = ()

    def operand(self, number: int) -> str:
        """An operand; "" where the line does not show it."""
        return self.operands[number] if number < len(self.operands) else ""

    @property
    def function(self) -> str:
        if self.call is None:
            return ""
        return self.call.func.attr if isinstance(self.call.func, ast.Attribute) else ast.unparse(self.call.func)


class OperationAnswer(NamedTuple):
    """A rule's answer: the sentence, what the user's line has at fault, and what to do."""

    key: str
    values: dict[str, object]
    names: tuple[str, ...] = ()
    fixes: tuple[tuple[str, str], ...] = ()
    """Words of `words.WORDS` and the code."""


Rule = Callable[[re.Match[str], CallingLine], OperationAnswer]


class LineAnswer(NamedTuple):
    """The answer of a rule about a line that Python itself raised in: the sentence, the names at fault, and what to do."""

    key: str
    values: dict[str, object]
    names: tuple[str, ...] = ()
    fixes: tuple[tuple[str, str], ...] = ()


LineFunction = Callable[[re.Match[str], "list[ast.AST]"], LineAnswer | None]
