"""One look at many lines misses none of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from troubleshooter.match.regex import Found, compiled, different, on_a_line, search, unbounded
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.text import fold

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
    for body in Diagnoser.load().knowledge.bodies():
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


@pytest.mark.parametrize(
    ("pattern", "rough"),
    [
        (r"lost .{0,300}found", r"lost .*found"),
        (r"lost [^\]{0,30}]{1,40}?found", r"lost [^\]{0,30}]+?found"),
        (r"(?:ab|c){2,12}d{0,9}", r"(?:ab|c)+d{0,9}"),
        (r"\{0,300}", r"\{0,300}"),
        (r"[{0,300}]", r"[{0,300}]"),
        (r"(?P<size>\d{1,20}) bytes", r"(?P<size>\d+) bytes"),
        (r"\w{12} [0-9a-f]{40}", r"\w{12} [0-9a-f]{40}"),
    ],
)
def test_large_bounds_are_left_out_at_first(pattern: str, rough: str) -> None:
    assert unbounded(pattern) == rough


@pytest.mark.parametrize(
    ("pattern", "text", "said"),
    [
        (r"CUDA error \(2\): lost", "a CUDA error (2): lost one", "CUDA error (2): lost"),
        (r"CUDA error \(2\): lost", "a cuda error (2): lost one", None),
        ("^'loss'$", "'loss'", "'loss'"),
        ("^'loss'$", "KeyError: 'loss'", None),
        ("^'loss'$", "'loss': 1\n'loss'\n", "'loss'"),
        ("^lost", "one\nlost two", "lost"),
        ("^lost", "one lost two", None),
        ("lost$", "one lost\ntwo", "lost"),
        ("lost$", "one lost two", None),
        ("lost a, b!", "lost a, b!", "lost a, b!"),
    ],
)
def test_text_without_a_choice_is_looked_for(pattern: str, text: str, said: str | None) -> None:
    """As RE2 finds it."""
    found = search(pattern, text)
    assert (found.said if found else None) == said
    match = compiled(pattern).search(text)
    assert (match.group() if match else None) == said
    assert different(pattern, text) == ((Found(said, {}),) if said else ())


def test_bounds_hold() -> None:
    assert search("lost .{0,12}found", f"lost {'x' * 12}found")
    assert search("lost .{0,12}found", f"lost {'x' * 13}found") is None
    assert len(different("lost (?P<way>.{0,12}?)found", f"lost afound lost {'x' * 13}found lost bfound")) == 2


def test_nothing_that_matches_is_lost_without_bounds() -> None:
    """Each pattern of an entry with large bounds, on each line of the entry's samples that it matches."""
    matched = 0
    for body in Diagnoser.load().knowledge.bodies():
        bounded = [p for p in set(_patterns(body["symptoms"])) if unbounded(p) != p]
        if not bounded:
            continue
        samples = sorted(path for path in ENTRIES.glob(f"*/{body['id']}/*match/*") if path.is_file())
        lines = {fold(line) for path in samples for line in path.read_text("utf-8", "replace").splitlines()}
        for pattern in bounded:
            exact, rough = compiled(pattern), compiled(unbounded(pattern))
            for line in lines:
                if exact.search(line) is not None:
                    matched += 1
                    assert rough.search(line) is not None, (body["id"], pattern)
    assert matched > 500
