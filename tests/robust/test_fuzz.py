"""The fuzz harness itself: it repeats, and its exit status tells whether something broke."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import fuzz
from troubleshooter.report.model import Report


def test_executions_are_told_by_seed_and_number(tmp_path: Path) -> None:
    paths = fuzz.seeds(tmp_path)
    assert len(fuzz.MUTATIONS) >= 20
    made = [fuzz.made(number, "a", paths)[:2] for number in range(6)]
    assert made == [fuzz.made(number, "a", paths)[:2] for number in range(6)]
    assert made != [fuzz.made(number, "b", paths)[:2] for number in range(6)]


def test_a_run_in_which_all_holds_ends_with_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(["--count", "3", "--seconds", "60", "--lab", str(tmp_path)]) == 0
    assert "3 executions" in capsys.readouterr().out


@pytest.mark.parametrize("broken", ["exception", "again", "json"])
def test_what_breaks_is_told_and_ends_with_1(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reports: list[Report] = []
    as_it_is = fuzz.Diagnoser.report

    def report(self: fuzz.Diagnoser, sources: list[fuzz.Source], **options: str) -> Report:
        if broken == "exception":
            raise ZeroDivisionError
        found = as_it_is(self, sources, **options)  # type: ignore[arg-type]
        reports.append(found)
        if broken == "again":
            found.input["lines"] += len(reports)
        else:
            found.input["files"] = [float("nan")]  # type: ignore[list-item]
        return found

    monkeypatch.setattr(fuzz.Diagnoser, "report", report)
    assert fuzz.main(["--count", "1", "--lab", str(tmp_path), "--keep", str(tmp_path / "kept")]) == 1
    out = capsys.readouterr().out
    assert f"{broken}: " in out
    assert "--seed 1 --first 0 --count 1" in out
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [f"{broken}-1-0.log"]
