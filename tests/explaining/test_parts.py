"""The part of a text of the user's own that a library cannot take apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from troubleshooter.report.model import Report

LIBRARY = """
def build(rules=None):
    found = {}
    for rule in rules.replace(" ", "").split(";"):
        key, value = rule.split(":")
        found[key] = value
    return found
"""
Run = Callable[..., Report]


@pytest.mark.parametrize(("text", "part"), [("a:1; b", "b"), ("a: 1; b:2:3", "b:2:3"), ("a:1;", "")])
def test_the_part_that_has_another_form(of_run: Run, text: str, part: str):
    [found] = of_run(LIBRARY, f"from widget import *\nRULES = {text!r}\nbuild(rules=RULES)\n").explained
    assert f"the part `{part}` of `rules` does not give 2 parts" in found["condition"]
    assert [one["code"] for one in found["suggestions"]] == ["rules=..."]
    assert found["arguments"][0]["value"] == repr(text)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('rules.replace(" ", "")', "turned(rules)", "a:1;b"),
        ('rules.replace(" ", "")', "(rules * 2)", "a:1;b"),
        ('split(";")', 'split(";", 1)', "a:1;b"),
        ('rule.split(":")', 'rule.split(":", 2)', "a:1;b"),
    ],
)
def test_a_text_that_is_taken_apart_in_a_way_which_is_not_seen(of_run: Run, old: str, new: str, text: str):
    library = LIBRARY.replace(old, new) + "\ndef turned(text):\n    return text + ';c'\n"
    report = of_run(library, f"from widget import *\nbuild(rules={text!r})\n")
    assert "does not give" not in str(report.explained)
