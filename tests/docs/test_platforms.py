"""The table of wheels is that of the dependencies, and its cells say what was found."""

from __future__ import annotations

import json
import re

import pytest

from docs.pages_platforms import table
from tests.docs.blocks import ROOT
from tools.wheels import PLATFORMS, PYTHONS, dependencies, needed

FOUND = json.loads((ROOT / "docs" / "platforms.json").read_text(encoding="utf-8"))


def test_every_dependency_was_asked_about_where_it_is_needed() -> None:
    """A dependency that was added or needed elsewhere asks for a new run of `python tools/wheels.py`."""
    asked = {(name, platform, python) for name, by in FOUND["wheels"].items() for platform, found in by.items() for python in found}
    expected = {
        (re.sub(r"[-_.]+", "-", requirement.name).lower(), platform, python)
        for requirement in dependencies() for platform in PLATFORMS for python in PYTHONS
        if needed(requirement, platform, python)
    }  # fmt: skip
    assert asked == expected


@pytest.mark.parametrize(
    ("wheels", "cell"),
    [
        ({"3.10": "pure", "3.11": "pure", "3.12": "pure"}, "all"),
        ({"3.10": "compiled"}, "3.10"),
        ({"3.10": "compiled", "3.11": "compiled"}, "3.10 to 3.11"),
        ({"3.10": "compiled", "3.11": "compiled", "3.12": "none"}, "all but 3.12"),
        ({"3.10": "none", "3.11": "none", "3.12": "none"}, "none"),
        ({}, "not needed"),
    ],
)
def test_a_cell_says_what_was_found(wheels: dict[str, str], cell: str) -> None:
    row = table({"asked": "2026-11-23", "platforms": ["Here"], "pythons": ["3.10", "3.11", "3.12"], "wheels": {"thing": {"Here": wheels}}})[-1]
    assert row.rstrip("| ").endswith(f"| {cell}"), row
