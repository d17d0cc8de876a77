"""Patterns are searched as RE2 searches them, with bounded memory."""

from __future__ import annotations

import pytest

from troubleshooter.match.regex import MAX_COMPILED, RegexMatch, compiled, different, search


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
    assert different(pattern, text) == ((RegexMatch(said, {}),) if said else ())


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
