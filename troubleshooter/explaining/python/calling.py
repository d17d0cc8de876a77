"""The line that called an operation, and the answers of rules about it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from troubleshooter.explaining.source.shown import called
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
    calls: tuple[ast.Call, ...] = ()
    """All calls of the line, the outermost first."""

    def operand(self, number: int) -> str:
        """An operand; "" where the line does not show it."""
        return self.operands[number] if number < len(self.operands) else ""

    @property
    def function(self) -> str:
        return "" if self.call is None else called(self.call)

    def of(self, *functions: str) -> CallingLine:
        """The same line, seen from its first call of one of these functions: in ``x.view(b, -1).transpose(0, 1)`` the
        outermost call is not the one that failed. The line itself if it calls none of them."""
        found = next((call for call in self.calls if called(call) in functions), None)
        return self if found is None else self._replace(call=found, operands=tuple(operands_of(found)))


_MODULES = frozenset(("torch", "F", "nn", "functional", "np", "numpy"))
"""Names whose functions take all operands as arguments."""


def operands_of(call: ast.Call) -> Iterator[str]:
    """The object of a method, and the arguments, as source."""
    root = call.func.value if isinstance(call.func, ast.Attribute) else None
    is_module = isinstance(root, ast.Name) and root.id in _MODULES
    if root is not None and not is_module and not ast.unparse(root).startswith(("torch.", "nn.", "np.", "numpy.")):
        yield ast.unparse(root)
    for part in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield ast.unparse(part)


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


LONGEST = 120
"""Characters of a part of a line that are shown."""


def text(node: ast.AST) -> str:
    """A part of a line, as it is shown."""
    return ast.unparse(node)[:LONGEST]


def each(several: Iterable[str]) -> str:
    """Several parts of a line, in a sentence."""
    return " / ".join(f"`{one}`" for one in several)
