"""What is known about a failing program: where it fails, which argument is at fault, and which changes repair it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
CASES = FOLDER / "cases"
TRUTHS = FOLDER / "programs.yaml"


@dataclass(frozen=True)
class Program:
    """One failing program.

    ``environment``: the releases it runs with (a key of ``environments`` in ``programs.yaml``). ``place``: the innermost
    frame of its traceback as ``package file function exception``. ``arguments``: the names of what the user has to set,
    any of which counts as named. ``repairs``: changes ``{old: new}`` of the program, each of which was run and repairs it.
    ``accepts``: patterns of a suggestion's code or words that amounts to one of the repairs. All of this was written before
    the code that explains failures. ``held``: kept back while that code was written.
    """

    id: str
    environment: str
    place: dict[str, str]
    arguments: list[str]
    repairs: list[dict[str, str]]
    accepts: list[str]
    held: bool

    @property
    def source(self) -> str:
        return (CASES / f"{self.id}.py").read_text(encoding="utf-8")

    @property
    def log(self) -> str:
        """What the program printed, with the folders of the machine that ran it renamed."""
        return (CASES / f"{self.id}.log").read_text(encoding="utf-8")

    def repaired(self) -> list[str]:
        """The source after each of the repairs. Raises ValueError if a repair changes nothing."""
        out = []
        for repair in self.repairs:
            text = self.source
            for old, new in repair.items():
                if old not in text:
                    raise ValueError(f"{self.id}: the repair looks for {old!r}, which the program does not hold")
                text = text.replace(old, new)
            out.append(text)
        return out


def load() -> list[Program]:
    """All programs, in the order of ``programs.yaml``."""
    found = _truths()
    return [Program(id=name, **about) for name, about in found["programs"].items()]


def releases(environment: str) -> dict[str, str]:
    """The releases of an environment, by package."""
    return dict(_truths()["environments"][environment])


@cache
def _truths() -> Mapping[str, Any]:
    """The file of truths, which takes half a second to read."""
    found: dict[str, Any] = yaml.safe_load(TRUTHS.read_text(encoding="utf-8"))
    return found
