"""A summary must say something that title, cause, fixes and symptoms do not say."""

from __future__ import annotations

from pathlib import Path

import pytest

from kb.load import load
from kb.summaries import repeats

ENTRY = """
id: flux-drained
severity: crash
title: "The flux is drained"
summary: {summary}
symptoms:
  - name: raised
    require:
      - message: "flux capacitor drained"
    source: {{run: "flux 1.0"}}
cause: The capacitor was not charged before <<step:integer|the first>> step.
fixes:
  - do: "Charge it with `charge()`"
    code: capacitor.charge()
sources:
  - {{run: "flux 1.0", shows: [symptom, cause, fix]}}
"""


@pytest.mark.parametrize(
    ("summary", "only_repeats"),
    [
        ("flux capacitor drained - charge it before the first step", True),
        ("The capacitors are drained and were not charged: charge()", True),
        ("flux capacitor drained at <<rate:integer|some>> units", False),  # nothing else shows the rate
        ("flux capacitor drained before <<step:integer|the first>> step", True),
        ("flux capacitor drained at <<rate:integer|some>> units - charge it", True),  # phrases, and the evidence shows it
        ("Flux: drained, lightning or plutonium bring it back (hill valley)", False),
        ("Only plutonium and lightning reach 1.21 gigawatts.", False),
    ],
)
def test_a_summary_of_known_words_only_repeats(tmp_path: Path, summary: str, only_repeats: bool) -> None:
    place = tmp_path / "training" / "flux-drained"
    place.mkdir(parents=True)
    (place / "entry.yaml").write_text(ENTRY.lstrip().format(summary=f'"{summary}"'), encoding="utf-8")
    (place / "samples.log").write_text("=== match raised\nValueError: flux capacitor drained\n", encoding="utf-8")
    assert repeats(load(tmp_path).entries["flux-drained"].entry) is only_repeats


def test_an_entry_without_a_summary_repeats_nothing(tmp_path: Path) -> None:
    place = tmp_path / "training" / "flux-drained"
    place.mkdir(parents=True)
    text = "\n".join(line for line in ENTRY.lstrip().format(summary="x").splitlines() if not line.startswith("summary"))
    (place / "entry.yaml").write_text(text + "\n", encoding="utf-8")
    assert not repeats(load(tmp_path).entries["flux-drained"].entry)
