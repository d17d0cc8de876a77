"""Each reader names its keywords, and a line goes to every reader that it calls."""

from __future__ import annotations

import pytest

from troubleshooter.observe.readers import METRICS, READERS, keywords
from troubleshooter.observe.tracebacks.normalize import normalize_traceback_lines
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.line import Line
from troubleshooter.read.sources import from_text


def test_every_keyword_calls_its_readers() -> None:
    called = keywords()
    for number, reader in enumerate(READERS, METRICS + 1):
        assert reader.keywords
        assert all(number in called[keyword.lower()] for keyword in reader.keywords)
    assert all(keyword == keyword.lower() for keyword in called)
    assert "" not in called


def test_a_line_goes_to_every_reader_that_it_calls(tool: Diagnoser) -> None:
    seen = tool.observe([from_text("worker on NVIDIA A100-SXM4-80GB under /home/me with torch==2.1.0 died: exit code 137\n")])
    assert {(fact.kind, fact.name, fact.value) for fact in seen.facts} >= {
        ("version", "torch", "2.1.0"), ("platform", "linux", ""), ("gpu", "NVIDIA A100-SXM4-80GB", ""),
    }  # fmt: skip
    assert [end.status for end in seen.exits] == [-9]


@pytest.mark.parametrize("digits", ["11", "42"])
def test_a_line_of_metrics_still_announces_its_phase(tool: Diagnoser, digits: str) -> None:
    lines = [f"{{'loss': 1.{digits}, 'grad_norm': 0.5, 'learning_rate': 1e-05}}"] * 12
    seen = tool.observe([from_text("\n".join(lines))])
    assert [phase for phase, _ in seen.phases] == ["train"]
    assert len(seen.metrics["loss"]) == len(lines)


def test_lines_are_rewritten_in_a_copy() -> None:
    given = [Line("Traceback (most recent call last):", 1), Line("  File \u201ca.py\u201d, line 1, in f", 2)]
    edits = normalize_traceback_lines(given)
    assert edits.rules == {1: "typographic quotes"}
    assert edits.lines[1].text == '  File "a.py", line 1, in f'
    assert given[1].text == "  File \u201ca.py\u201d, line 1, in f"
    untouched = given[:1]
    assert normalize_traceback_lines(untouched).lines is untouched
