"""The cheap test before a pattern is tried errs on one side only: a text that it rules out cannot match."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.samples import below
from tests.conftest import Draw
from troubleshooter.match.conditions import message
from troubleshooter.match.context import Context
from troubleshooter.match.engine import Candidate, candidates
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

ENTRIES = Path(__file__).parents[2] / "entries"
DRAWN = 500
"""Samples that the default run tries; the stage `entries` tries all."""


def _found(found: list[Candidate]) -> list[tuple[str, str, int]]:
    return [(c.id, c.trial.symptom, c.trial.anchor.line.number if c.trial.anchor else 0) for c in found]


def test_no_entry_is_lost(tool: Diagnoser, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    ruled_out = 0
    for text in draw([sample.text for _, sample in below(ENTRIES)], DRAWN):
        seen = tool.observe([from_text(text)])
        filtered = _found(candidates(seen, tool.knowledge))
        with monkeypatch.context() as patch:
            asked: list[bool] = []
            may_match = Context.may_match
            patch.setattr(Context, "may_match", lambda *given, asked=asked, test=may_match: asked.append(test(*given)) or True)
            patch.setattr(message, "contains_required", lambda text, pattern: True)
            assert filtered == _found(candidates(seen, tool.knowledge)), text
        ruled_out += asked.count(False)
    assert ruled_out > DRAWN  # otherwise the test shows nothing
