"""One look at many lines misses none of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kb.samples import below
from troubleshooter.match.regex import MAX_COMPILED, Found, compiled, different, on_a_line, search
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
    texts: dict[str, list[str]] = {}
    for id_, sample in below(ENTRIES, "match"):
        texts.setdefault(id_, []).append(sample.text)
    for body in Diagnoser.load().knowledge.bodies():
        lines = [fold(line) for text in texts[body["id"]] for line in text.splitlines()]
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


def test_a_pattern_that_is_too_large_for_the_usual_memory_is_compiled() -> None:
    assert search("lost .{0,900}and .{0,900}then .{0,900}found", "lost and then found")


def test_few_patterns_stay_compiled() -> None:
    """A process of a scan meets all patterns of all entries: it must not keep them all."""
    for number in range(2 * MAX_COMPILED):
        assert search(f"lost {number} (?:of|in) it", f"lost {number} of it")
    assert compiled.cache_info().currsize <= MAX_COMPILED
