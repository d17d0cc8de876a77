"""Records: written by a run, read by check, and believed only where they agree with the entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from troubleshooter.verify import probe as probes
from troubleshooter.verify import record
from troubleshooter.verify.judge import by_run

from .helpers import Entry, environment
from .test_verdict import NOT_SEEN, SEEN, outcome

AFFECTED = {"transformers": ">=4.50.0,<4.51.0"}
ENTRY = Entry(versions=AFFECTED, probe=("cache-float", {}))


def recorded(folder: Path, version: str, row: dict[str, Any], entry: Entry = ENTRY, **change: Any) -> Path:
    """A record of a run with that transformers; keyword arguments change the file afterwards."""
    found = by_run(entry, environment(torch="2.13.0+cpu", transformers=version), outcome(row), "cpu")
    shipped = probes.load(entry.probe[0])
    path = record.write(found, shipped, shipped.options(entry.probe[1]), folder / record.FOLDER)
    if change:
        data = json.loads(path.read_text())
        data.update(change)
        path.write_text(json.dumps(data))
    return path


def test_a_record_says_when_where_and_with_what(tmp_path: Path) -> None:
    path = recorded(tmp_path, "4.50.3", SEEN)
    assert path.name == "torch-2.13.0+cpu_transformers-4.50.3_cpu.json"
    (read,), problems = record.read(tmp_path / record.FOLDER)
    assert problems == []
    assert (read.entry, read.verdict, read.device) == ("cache-object-float", "confirmed", "cpu")
    assert read.sha256 == probes.load("cache-float").sha256
    assert len(read.date) == 10
    assert "python" not in json.loads(path.read_text())["environment"], "no path of the recording machine"
    assert recorded(tmp_path, "4.50.3", SEEN) == path, "a run over the same versions replaces the older record"


def test_agreeing_records_are_silent(tmp_path: Path) -> None:
    recorded(tmp_path, "4.50.3", SEEN)
    recorded(tmp_path, "4.51.0", NOT_SEEN)
    assert record.check_records(ENTRY, tmp_path) == []


def test_no_folder_of_the_recording_machine_is_kept(tmp_path: Path) -> None:
    message = "cannot import name 'X' from 'transformers' (/home/me/envs/a/lib/transformers/__init__.py), 3/4 of I/O"
    row = {**SEEN, "observed": {"exception": "ImportError", "message": message}}
    text = recorded(tmp_path, "4.50.3", row).read_text("utf-8")
    assert "/home" not in text
    assert "(…/__init__.py), 3/4 of I/O" in text


@pytest.mark.parametrize(("version", "row"), [("4.50.3", NOT_SEEN), ("4.57.6", SEEN)])
def test_a_contradiction_fails(tmp_path: Path, version: str, row: dict[str, Any]) -> None:
    recorded(tmp_path, version, row)
    problems = [problem for problem in record.check_records(ENTRY, tmp_path) if problem.fails]
    assert len(problems) == 1
    assert version in problems[0].message
    assert ">=4.50.0,<4.51.0" in problems[0].message


def test_claims_without_a_record_are_listed(tmp_path: Path) -> None:
    (first,) = record.check_records(ENTRY, tmp_path)
    assert not first.fails
    assert "confirms" in first.message
    recorded(tmp_path, "4.50.3", SEEN)
    (second,) = record.check_records(ENTRY, tmp_path)
    assert not second.fails
    assert "repaired" in second.message


def test_a_record_of_an_older_probe_is_listed(tmp_path: Path) -> None:
    recorded(tmp_path, "4.51.0", NOT_SEEN)
    old = {"name": "cache-float", "with": probes.load("cache-float").options({}), "sha256": "0" * 64}
    recorded(tmp_path, "4.50.3", SEEN, probe=old)
    (problem,) = record.check_records(ENTRY, tmp_path)
    assert not problem.fails
    assert "older" in problem.message


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"entry": 1}'])
def test_a_file_that_is_no_record(tmp_path: Path, text: str) -> None:
    (tmp_path / record.FOLDER).mkdir()
    (tmp_path / record.FOLDER / "x.json").write_text(text)
    problems = [problem for problem in record.check_records(ENTRY, tmp_path) if problem.fails]
    assert len(problems) == 1
    assert "no record" in str(problems[0])


@pytest.mark.parametrize(
    ("probe", "told"),
    [(("no-such-probe", {}), "no probe `no-such-probe`"), (("cache-float", {"dtype": "int8"}), "expected one of")],
)
def test_an_entry_that_asks_for_what_no_probe_gives(tmp_path: Path, probe: Any, told: str) -> None:
    (problem,) = record.check_records(Entry(probe=probe), tmp_path)
    assert problem.fails
    assert told in problem.message


def test_where_a_record_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = tmp_path / "entries" / "precision" / "cache-object-float"
    entry.mkdir(parents=True)
    (entry / "entry.yaml").touch()
    assert record.folder_for("cache-object-float", entry) == entry / "verified"
    assert record.folder_for("x", entry, tmp_path / "mine") == tmp_path / "mine" / "x"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert record.folder_for("x", None) == tmp_path / "data" / "llm-troubleshooter" / "verified" / "x"


def test_every_shipped_record_agrees_with_its_entry() -> None:
    from kb.load import load

    root = Path(__file__).parent.parent.parent / "entries"
    asking = [path.parent for path in root.rglob("entry.yaml") if "probe:" in path.read_text(encoding="utf-8")]
    library = load(*asking)  # the others have nothing that a record could contradict
    assert library.entries
    assert not library.problems
    problems = [
        str(problem)
        for loaded in library.entries.values()
        for problem in record.check_records(loaded.entry, loaded.folder)
        if problem.fails
    ]
    assert problems == []
