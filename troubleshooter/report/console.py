"""Where a report for a terminal is written: a console of rich, or lines without colours."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

NARROWEST, WIDEST_ASKED = 20, 1000
"""The smallest and the largest width that ``COLUMNS`` may set."""


def new_console() -> Console | Plain:
    """A console for standard output. A file or pipe is 80 characters wide unless ``COLUMNS`` says otherwise."""
    width = None if sys.stdout.isatty() else columns()
    if width is not None and not any(os.environ.get(name) for name in ("FORCE_COLOR", "TTY_COMPATIBLE")):
        return Plain(width)
    from rich.console import Console

    return Console(file=sys.stdout, width=width, highlight=False, emoji=False, markup=False, soft_wrap=False)


def columns(usual: int = 80) -> int:
    """The width that ``COLUMNS`` sets, or the usual one if it sets none or a senseless one."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and NARROWEST <= int(given) <= WIDEST_ASKED else usual


class Plain:
    """Writes text without colours, to standard output if nothing else is given. A `Console` would write the same, but
    importing it is slow (docs/decisions/0003)."""

    def __init__(self, width: int, out: TextIO | None = None) -> None:
        self.width = width
        self.out = out or sys.stdout

    def print(self, text: Text | str = "", *, soft_wrap: bool = True) -> None:
        """Write a line as it is."""
        self.out.write(f"{text}\n")

    def rule(self, title: Text, *, align: str = "left", style: str = "") -> None:
        """Write a line across the page that begins with the title."""
        title.truncate(self.width - 2, overflow="ellipsis")
        self.out.write(f"{title} {'─' * (self.width - title.cell_len - 1)}\n")
