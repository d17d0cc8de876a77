"""The symptom that is shown has the values that other symptoms of its entry captured on the same failure."""

from __future__ import annotations

from pathlib import Path

from troubleshooter.pipeline import Diagnoser

ENTRY = """
id: flux-drained
severity: crash
title: "The flux is drained"
symptoms:
  - name: raised
    decisive: true
    require:
      - message: "the flux capacitor is drained completely"
    source: {run: "flux 1.0"}
  - name: rate
    require:
      - message: "drained[^\\\\n]* at (?P<rate>\\\\d+) units"
    source: {run: "flux 1.0"}
  - name: noted
    require:
      - line: "flux meter shows (?P<meter>\\\\d+)"
    source: {run: "flux 1.0"}
cause: It drains.
fixes:
  - do: "Charge at <<rate:integer|unknown>> units, meter <<meter:integer|unknown>>"
sources:
  - {run: "flux 1.0", shows: [symptom, cause, fix]}
"""
FAILED = 'Traceback (most recent call last):\n  File "/home/me/run.py", line 3, in <module>\n    go()\n'


def fix(folder: Path, log: str) -> str:
    place = folder / "training" / "flux-drained"
    place.mkdir(parents=True, exist_ok=True)
    (place / "entry.yaml").write_text(ENTRY.lstrip(), encoding="utf-8")
    (place / "samples.log").write_text(
        "=== match raised\nValueError: the flux capacitor is drained completely\n", encoding="utf-8"
    )
    told = Diagnoser.load([folder]).diagnose(log).diagnoses
    [found] = [one for one in told if one.id == "flux-drained"]
    return found.fixes[0].do


def test_a_value_of_another_symptom_fills_the_placeholder(tmp_path: Path) -> None:
    log = f"flux meter shows 7\n{FAILED}ValueError: the flux capacitor is drained completely at 12 units\n"
    assert fix(tmp_path, log) == "Charge at 12 units, meter 7"


def test_a_value_of_another_exception_does_not(tmp_path: Path) -> None:
    other = f"{FAILED}RuntimeError: drained pipe at 99 units\n\n"
    log = f"{other}{FAILED}ValueError: the flux capacitor is drained completely\n"
    assert fix(tmp_path, log) == "Charge at unknown units, meter unknown"
