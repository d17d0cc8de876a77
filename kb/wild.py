"""Names with ``*``: matched without compiling an expression for each (a log asks for dozens, each once)."""

from __future__ import annotations

from fnmatch import fnmatchcase

WILD = frozenset("*?[")
"""What makes a name a pattern."""


def fits(name: str, pattern: str) -> bool:
    """`fnmatchcase`, at once where the pattern has one ``*`` and nothing else."""
    before, star, after = pattern.partition("*")
    if not WILD.isdisjoint(before) or not WILD.isdisjoint(after):
        return fnmatchcase(name, pattern)
    if not star:
        return name == pattern
    return len(name) >= len(before) + len(after) and name.startswith(before) and name.endswith(after)
