"""The marks of evidence in ``samples.log``: `troubleshoot check --mark` writes what `check` accepts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kb.cache import CHECKOUT
from kb.load import load
from troubleshooter.check import check, mark
from troubleshooter.pipeline import Diagnoser


@pytest.mark.parametrize("place", ["training/nothing-in-the-graph", "cuda/position-index-out-of-range"])
def test_crash_facts_are_no_marked_line(tmp_path: Path, place: str) -> None:
    """These entries have samples with crash facts, which are evidence without a line in the log."""
    shutil.copytree(CHECKOUT / place, tmp_path / place)
    samples = tmp_path / place / "samples.log"
    assert "--- crash facts" in samples.read_text()
    samples.write_text(samples.read_text().replace(">>> ", ""))
    tool = Diagnoser.load([tmp_path])
    (item,) = load(tmp_path).entries.values()
    assert mark(item, tool)
    assert ">>> " in samples.read_text()
    library = load(tmp_path)
    (item,) = library.entries.values()
    assert not mark(item, tool)
    assert not [one.message for one in check(library, tool) if "evidence" in one.message]
