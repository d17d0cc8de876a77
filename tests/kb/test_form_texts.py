"""Patterns and ranges are checked wherever a form has them, by the type of the field alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb import form_texts
from kb.conditions.base import OneOrMore, Part, Pattern, Range, TextCheck, Wording
from kb.load import load_entry

ENTRY = """\
id: flux-empty
severity: crash
title: Training stops because the flux capacitor is empty
symptoms:
  - require:
      - exception: QuuxError
        message: "flux capacitor \\\\d+ is empty"
      - {condition}
    source: {{run: "a test"}}
cause: quux empties a capacitor every thousand steps.
fixes: [{{do: Let quux fill the capacitor}}]
{more}
sources: [{{run: "a test", shows: fix}}]
"""


def problems(folder: Path, condition: str = "line: the capacitor", more: str = "") -> list[str]:
    path = folder / "flux-empty" / "entry.yaml"
    path.parent.mkdir()
    path.write_text(ENTRY.format(condition=condition, more=more), encoding="utf-8")
    return [f"{problem.field}: {problem.message}" for problem in load_entry(path)[1] if "samples" not in str(problem)]


def test_a_text_in_the_place_of_keys_is_told_the_keys(tmp_path: Path) -> None:
    path = tmp_path / "flux-empty" / "entry.yaml"
    path.parent.mkdir()
    text = ENTRY.format(condition="line: the capacitor", more="")
    path.write_text(text.replace('{run: "a test"}', "a test", 1), encoding="utf-8")
    (told,) = [str(problem) for problem in load_entry(path)[1] if "samples" not in str(problem)]
    assert "symptoms.0.source: expected keys with values (" in told
    assert "url, " in told
    assert "run" in told
    assert "instance of" not in told


def test_right_texts_have_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, "version: {torch: '>=2.4'}", "versions: {torch: '<<release>>'}") == []


@pytest.mark.parametrize(
    ("condition", "place", "message"),
    [
        ("line: '(unclosed words'", "line", "not a linear-time pattern"),
        ("line: [fine words, '\\d+']", "line.1", "no literal of"),
        ("any: [{line: fine words}, {message: '(?=ahead)words'}]", "any.1.message", "not a linear-time pattern"),
        ("not: {all: [{line: '\\d+'}]}", "not.all.0.line", "no literal of"),
        ("{flag: fp16, value: '(true'}", "value", "not a linear-time pattern"),
        ("gpu: 'A100('", "gpu", "not a linear-time pattern"),
        ("capability: '=>8.0'", "capability", "=>8.0"),
        ("version: {torch: '>2,<1'}", "version.torch", "no version lies in"),
    ],
)
def test_a_wrong_text_is_named_with_its_place(tmp_path: Path, condition: str, place: str, message: str) -> None:
    (found,) = problems(tmp_path, condition)
    assert found.startswith(f"symptoms.0.require.1.{place}: ")
    assert message in found


def test_ranges_and_advice_of_the_entry_are_checked(tmp_path: Path) -> None:
    more = "versions: {torch: 'two'}\nadvice: [{printed: '(never', because: It does not help}]"
    assert [one.split(":")[0] for one in problems(tmp_path, more=more)] == ["versions.torch", "advice.0.printed"]


def test_a_new_form_is_checked_by_the_types_of_its_fields() -> None:
    class Inner(Part):
        by: Pattern | None = None

    class Outer(Part):
        python: Range
        words: Wording | list[Wording] | None = None
        names: OneOrMore = "free"
        parts: dict[str, list[Inner]]

    found = form_texts.texts(Outer(python=">=3.12", words=["a word"], parts={"x": [Inner(by="yes")]}))
    assert list(found) == [
        (("python",), ">=3.12", TextCheck.RANGE),
        (("words", 0), "a word", TextCheck.WORDING),
        (("parts", "x", 0, "by"), "yes", TextCheck.PATTERN),
    ]
