"""Measurements are on dated pages, and the code names these pages."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT

PAGES = ROOT / "docs" / "decisions"
SOURCES = sorted(path for package in ("kb", "troubleshooter") for path in (ROOT / package).rglob("*.py"))
_MEASURED = re.compile(
    r"\d ?(?:ms|µs|ns)\b|\d ?%? (?:faster|slower|cheaper)\b"
    r"|\b(?:takes?|took|costs?|saves?)\b(?: \w+){0,4} \d[\d.,]* ?(?:s|seconds|minutes|[kMG]i?B|%|times)(?!\w)",
    re.IGNORECASE,
)
MAY_TELL = {"troubleshooter/verify/device.py": "a limit: what a probe may take"}


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """The comments and docstrings of a file (also those below a constant), with the lines that they begin on."""
    text = path.read_text(encoding="utf-8")
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, " ".join(node.value.value.split())


@pytest.mark.parametrize("text", ["An automaton takes 60 ms.", "It costs each start 8 ms", "# 20 % faster", "They take up to 0.7 s"])
def test_a_measurement_is_noticed(text: str) -> None:
    assert _MEASURED.search(text)


def test_comments_tell_no_measurement() -> None:
    """Comments say why. Times and ratios age, so they are on a page with a date (docs/decisions), which the comment names."""
    found = [
        f"{path.relative_to(ROOT)}:{line}: {told[0]}"
        for path in SOURCES if path.relative_to(ROOT).as_posix() not in MAY_TELL
        for line, text in prose(path)
        if (told := _MEASURED.search(text)) and not re.match(r"\s*(?:Such as|#\s*Kaggle)", text)
    ]  # fmt: skip
    assert not found, "\n".join(found)


def test_decisions_that_the_code_names_exist() -> None:
    numbers = {path.name[:4] for path in PAGES.glob("[0-9]*.md")}
    named = {
        (path.relative_to(ROOT).as_posix(), number)
        for path in SOURCES
        for _, text in prose(path)
        for number in re.findall(r"decisions/(\d{4})", text)
    }
    assert named
    assert not {(path, number) for path, number in named if number not in numbers}


def test_each_decision_is_dated_and_listed() -> None:
    index = (PAGES / "README.md").read_text(encoding="utf-8")
    for page in sorted(PAGES.glob("[0-9]*.md")):
        title, _, date, *_ = page.read_text(encoding="utf-8").splitlines()
        row = f"| [{page.name[:4]}]({page.name}) | {title[2:].partition('. ')[2]} | {date[:10]} |"
        assert row in index, f"{page.name}: docs/decisions/README.md lacks the row {row}"
