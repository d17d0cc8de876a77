"""Looking before trying rules out only what cannot hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.compiled import Body
from kb.samples import below
from tests.conftest import Draw
from troubleshooter.match import engine
from troubleshooter.match.engine import Candidate, candidates
from troubleshooter.observe.model import Observations
from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.sources import from_text

ENTRIES = Path(__file__).parents[2] / "entries"
DRAWN = 1000
"""Samples that the default run tries; the stage `entries` tries all."""


def _found(found: list[Candidate]) -> list[tuple[str, str, int]]:
    return [(c.id, c.trial.symptom, c.trial.anchor.line.number if c.trial.anchor else 0) for c in found]


class _Everything:
    """Knowledge of which every entry that has a literal in the log is tried."""

    def __init__(self, tool: Diagnoser) -> None:
        self._knowledge = tool.knowledge

    def __getattr__(self, name: str) -> object:
        return getattr(self._knowledge, name)

    def triggered(self, literals: dict[int, object], pseudo: set[str], text: object) -> list[tuple[Body, int]]:
        return list(self._knowledge.triggered(literals, pseudo))


def test_no_entry_is_lost(tool: Diagnoser, draw: Draw, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = draw([sample.text for _, sample in below(ENTRIES)], DRAWN)
    spared = 0
    for text in samples:
        seen: Observations = tool.observe([from_text(text)])
        looked = _found(candidates(seen, tool.knowledge))
        with monkeypatch.context() as patch:
            tried: list[str] = []
            patch.setattr(engine, "worth_a_try", lambda symptom, log, tried=tried: not tried.append(symptom["name"]))
            everything = _found(candidates(seen, _Everything(tool)))  # type: ignore[arg-type]
        assert looked == everything, text
        spared += len(tried) - len(looked)
    assert spared > len(samples)  # else there would be nothing to show
