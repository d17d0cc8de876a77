"""No answer moves unseen: samples, healthy logs and generated logs answer as the golden file keeps it."""

from __future__ import annotations

from tests import golden
from tests.conftest import Draw

DRAWN = 1200
"""Logs that the default run tries; the stage `entries` and ``python -m tests.golden`` try all."""


def test_every_log_has_a_row() -> None:
    assert sorted(golden.kept()) == golden.log_names()


def test_logs_answer_as_the_golden_file_keeps_it(draw: Draw) -> None:
    names, kept = draw(golden.log_names(), DRAWN), golden.kept()
    moved = [f"{kept.get(name)!r} -> {made!r}" for name, made in zip(names, golden.rows(names), strict=True) if kept.get(name) != made]
    assert not moved, f"{len(moved)} moved; look at them: python -m tests.golden (--update keeps them)\n" + "\n".join(moved[:20])
