"""``check`` names fixes whose condition holds in none of the entry's samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.load import load
from troubleshooter.check import check
from troubleshooter.pipeline import Diagnoser

ENTRY = """
id: gadget-breaks
severity: crash
title: The gadget of gadgetlib breaks
symptoms:
  - name: broken
    require:
      - message: "the gadget of gadgetlib broke: (?:full|empty)"
    source: {{run: "made for this test"}}
cause: |
  A gadget of gadgetlib breaks when it is full or empty.
fixes:
  - do: Empty it
    when: {{message: "broke: {first}"}}
  - do: Fill it
    when: {{not: {{message: "broke: {second}"}}}}
  - do: Buy another one
sources:
  - {{run: "made for this test", shows: [cause, fix]}}
"""
SAMPLES = "=== match full\nValueError: the gadget of gadgetlib broke: full\n"
EMPTY = "=== match empty\nValueError: the gadget of gadgetlib broke: empty\n"


@pytest.mark.parametrize(
    ("first", "second", "samples", "unshown"),
    [
        ("full", "full", SAMPLES + EMPTY, []),
        ("full", "full", SAMPLES, [1]),
        ("Full", "full", SAMPLES + EMPTY, [0]),  # the message is written in lower case
        ("full", "(?:full|empty)", SAMPLES + EMPTY, [1]),
    ],
)
def test_a_fix_that_no_sample_shows_is_a_problem(
    tmp_path: Path, first: str, second: str, samples: str, unshown: list[int]
):
    folder = tmp_path / "entries" / "data" / "gadget-breaks"
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(ENTRY.format(first=first, second=second), encoding="utf-8")
    (folder / "samples.log").write_text(samples, encoding="utf-8")
    library = load(folder)
    assert library.problems == []
    found = check(library, Diagnoser.load([tmp_path / "entries"]), ["gadget-breaks"])
    told = [str(one) for one in found if "no sample shows this fix" in one.message]
    assert [f"fixes.{number}:" in one for number, one in zip(unshown, told, strict=True)] == [True] * len(unshown)


@pytest.mark.parametrize(("last", "without"), [("  - do: Buy another one\n", 0), ("", 1)])
def test_a_sample_for_which_no_fix_is_shown_is_a_problem(tmp_path: Path, last: str, without: int):
    folder = tmp_path / "entries" / "data" / "gadget-breaks"
    folder.mkdir(parents=True)
    entry = ENTRY.format(first="full", second="(?:full|empty)").replace("  - do: Buy another one\n", last)
    (folder / "entry.yaml").write_text(entry, encoding="utf-8")
    (folder / "samples.log").write_text(SAMPLES + EMPTY, encoding="utf-8")
    found = check(load(folder), Diagnoser.load([tmp_path / "entries"]), ["gadget-breaks"])
    told = [str(one) for one in found if "shows no fix" in one.message]
    assert len(told) == without
    assert all("match empty" in one for one in told)
