"""What ``--record`` writes into an entry."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from troubleshooter.bisect.bisector import Finding
from troubleshooter.bisect.record import range_of, write
from troubleshooter.verify import subject

EXACT = Finding("transformers", "found", last_good="4.49.0", first_bad="4.50.0", last_bad="4.50.3", first_repaired="4.51.0")
ENTRY = """id: own
title:
  en: Evaluation fails
  zh: 评估失败
symptoms: []
cause: |
  versions: are not written here.
"""


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (EXACT, ">=4.50.0,<4.51.0"),
        (Finding("trl", "found", last_good="0.1", first_bad="0.2"), ">=0.2"),
        (Finding("trl", "found", last_bad="0.1", first_repaired="0.2"), "<0.2"),
        (Finding("trl", "between", last_good="0.1", first_bad="0.3", untold=["0.2"]), ""),
        (Finding("trl", "found", last_good="0.1", first_bad="0.3", first_repaired="0.6", untold_repair=["0.5"]), ""),
        (Finding("trl", "no-good-release", first_bad="0.3"), ""),
    ],
)
def test_the_range_of_what_was_found(found: Finding, expected: str) -> None:
    assert range_of(found) == expected


@pytest.mark.parametrize("before", ["", 'versions: {transformers: ">=4.0"}\n', 'versions:\n  transformers: ">=4.0"\n'])
def test_the_range_is_written_and_nothing_else_changes(tmp_path: Path, before: str) -> None:
    path = tmp_path / "entry.yaml"
    path.write_text(ENTRY.replace("cause:", before + "cause:"), encoding="utf-8")
    said = write(tmp_path, EXACT)
    written = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert written == {**yaml.safe_load(ENTRY), "versions": {"transformers": ">=4.50.0,<4.51.0"}}
    assert ">=4.50.0,<4.51.0" in said
    again = path.read_text(encoding="utf-8")
    write(tmp_path, EXACT)
    assert path.read_text(encoding="utf-8") == again


def test_ranges_of_other_packages_stay(tmp_path: Path) -> None:
    path = tmp_path / "entry.yaml"
    path.write_text(ENTRY + 'versions: {trl: "<0.9"}\n', encoding="utf-8")
    write(tmp_path, EXACT)
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["versions"] == {"trl": "<0.9", "transformers": ">=4.50.0,<4.51.0"}


def test_a_range_that_is_not_exact_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "entry.yaml"
    path.write_text(ENTRY, encoding="utf-8")
    said = write(tmp_path, Finding("trl", "between", last_good="0.1", first_bad="0.3", untold=["0.2"]))
    assert "nothing written" in said
    assert path.read_text(encoding="utf-8") == ENTRY


@pytest.mark.parametrize("place", ["own-entry", "precision/own-entry"])
def test_an_own_entrys_folder_is_known_with_and_without_areas(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "team" / place
    folder.mkdir(parents=True)
    (folder / "entry.yaml").write_text(
        "id: own-entry\nkind: failure\nseverity: crash\nretry: after-fix\ntitle: Ours fails\n"
        "symptoms:\n  - name: one\n    decisive: true\n    require:\n      - message: ours is broken here\n"
        "    source: {package: ours, file: a.py, versions: '1.0'}\n"
        "cause: It breaks.\nfixes:\n  - do: Mend it\nprobe: {name: no-loss}\nsources: [{url: 'https://example.com/1', shows: [symptom, cause, fix]}]\n",
        encoding="utf-8",
    )
    assert subject.of_entry("own-entry", [tmp_path / "team"], "en").folder == folder
