"""Regular expressions that are compiled when they are first used.

Most logs need only a few of the layouts of tracebacks, metrics and versions, and a start must not wait for the others
(docs/decisions/0003).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any


class Lazy:
    """A pattern with the methods of ``re.Pattern``; the first call compiles it and binds them."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self._given: tuple[Any, int] = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._given)
        for method in ("match", "search", "finditer", "fullmatch", "sub", "split", "findall", "groupindex", "pattern"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


if TYPE_CHECKING:
    compile = re.compile
else:
    compile = Lazy
