"""Entries and environments without files."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from troubleshooter.verify.environment import Environment


@dataclass(frozen=True)
class Fix:
    do: str
    code: str | None = None
    shell: str | None = None


@dataclass(frozen=True)
class Entry:
    """As much of an entry as verifying reads."""

    id: str = "cache-object-float"
    title: str = "Evaluation crashes on a cache"
    versions: Mapping[str, str] = field(default_factory=dict)
    fixes: Sequence[Fix] = ()
    probe: Any = None


def environment(**versions: str) -> Environment:
    """An environment that holds these packages."""
    return Environment(sys.executable, "3.11.7", sys.prefix, tuple(sys.path), None, False, versions)
