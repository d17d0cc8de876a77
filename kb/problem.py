"""One fault of an entry, with its place. Problems are collected, so that an author sees all of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kb.clean import clean
from kb.errors import TroubleshootError


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A fault at ``path:line:column`` (1-based) of a field, and what to do about it."""

    path: Path
    line: int
    column: int
    field: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        field = f"{self.field}: " if self.field else ""
        hint = f" ({self.hint})" if self.hint else ""
        return clean(f"{self.path}:{self.line}:{self.column}: {field}{self.message}{hint}")


class EntryError(TroubleshootError):
    """Entries cannot be used. The error holds all problems, and its message has one line for each."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = sorted(problems)
        super().__init__("\n".join(["entries that cannot be used:", *map(str, self.problems)]))
