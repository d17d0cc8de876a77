"""What a rule makes of a line of code and the message that it raised."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NamedTuple


class LineAnswer(NamedTuple):
    """A rule's answer: the sentence, the names at fault, and what to do."""

    key: str
    values: dict[str, object]
    names: tuple[str, ...] = ()
    fixes: tuple[tuple[str, str], ...] = ()


Rule = Callable[[re.Match[str], "list[ast.AST]"], "LineAnswer | None"]
