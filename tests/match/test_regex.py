"""One look at many lines misses none of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from troubleshooter.match.regex import on_a_line, search
from troubleshooter.read.text import fold
from troubleshooter.tool import Tool

ENTRIES = Path(__file__).parents[2] / "entries"


def _patterns(condition: Any) -> Iterator[str]:
    if isinstance(condition, dict):
        if isinstance(condition.get("re"), str):
            yield condition["re"]
        for value in condition.values():
            yield from _patterns(value)
    elif isinstance(condition, list):
        for value in condition:
            yield from _patterns(value)


def test_no_line_is_missed() -> None:
    hit = passed_over = 0
    for body in Tool.load().knowledge.bodies():
        samples = sorted(path for path in ENTRIES.glob(f"*/{body['id']}/match/*") if path.is_file())
        lines = [fold(line) for path in samples for line in path.read_text("utf-8", "replace").splitlines()]
        text = "\n".join(lines)
        for pattern in set(_patterns(body["symptoms"])):
            if any(search(pattern, line) for line in lines):
                hit += 1
                assert on_a_line(pattern, text), (body["id"], pattern)
            else:
                passed_over += not on_a_line(pattern, text)
    assert hit > 2000
    assert passed_over > 500


@pytest.mark.parametrize(
    ("pattern", "want"),
    [("^'loss'$", True), ("^loss$", False), (r"\A'loss'\z", True), ("(?i)STEP 2$", True), ("^a|^'loss'", True)],
)
def test_ends_are_those_of_a_line(pattern: str, want: bool) -> None:
    assert on_a_line(pattern, "step 1\n'loss'\nstep 2\nlast") is want
