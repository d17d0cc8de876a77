"""Matches names that contain ``*`` without compiling an expression for each, because a log asks for dozens of them
once."""

from __future__ import annotations

from fnmatch import fnmatchcase

WILD = frozenset("*?[")
"""A name with one of these characters is a pattern."""

FAMILIES = "*"
"""The key of a table's rows that stand for many names by a pattern (kind "family"), which no name of a log finds by itself."""


def fits(name: str, pattern: str) -> bool:
    """The same as `fnmatchcase`, but immediate if the pattern has one ``*`` and no other wildcard."""
    before, star, after = pattern.partition("*")
    if not WILD.isdisjoint(before) or not WILD.isdisjoint(after):
        return fnmatchcase(name, pattern)
    if not star:
        return name == pattern
    return len(name) >= len(before) + len(after) and name.startswith(before) and name.endswith(after)
