"""The cache of compiled entries: it does not grow with every change of an entry."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from kb import cache
from kb.cache import DAYS, KEPT, pack, tidy, used

ENTRY = Path(__file__).parents[2] / "entries" / "precision" / "cache-object-float"
DAY = 24 * 3600.0


def aged(path: Path, days: float) -> Path:
    path.write_bytes(b"")
    at = time.time() - days * DAY
    os.utime(path, (at, at))
    return path


def test_what_was_not_used_for_long_is_removed(tmp_path: Path) -> None:
    old = [aged(tmp_path / "old.pack", DAYS + 1), aged(tmp_path / "old.hs", DAYS + 1)]
    kept = [aged(tmp_path / "new.pack", DAYS - 1), aged(tmp_path / "notes.txt", 2 * DAYS)]
    tidy(tmp_path)
    assert not any(path.exists() for path in old)
    assert all(path.exists() for path in kept)


def test_of_many_files_those_in_use_are_kept(tmp_path: Path) -> None:
    found = [aged(tmp_path / f"{n}.pack", 1 + n / KEPT) for n in range(KEPT + 5)]
    used(found[-1])
    tidy(tmp_path)
    assert [path.exists() for path in found] == [True] * (KEPT - 1) + [False] * 5 + [True]


def test_a_change_of_an_entry_makes_a_new_file_and_no_more_than_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TROUBLESHOOT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "KEPT", 2)
    folder = tmp_path / "entries"
    shutil.copytree(ENTRY, folder / "precision" / ENTRY.name)
    made = []
    for change in range(4):
        path = folder / "precision" / ENTRY.name / "entry.yaml"
        os.utime(path, (change, change))
        made.append(pack(folder, "own").path)
    assert len(set(made)) == 4
    assert sorted((tmp_path / "cache").iterdir()) == sorted(made[-2:])


def test_a_folder_that_is_not_there_is_no_trouble(tmp_path: Path) -> None:
    tidy(tmp_path / "gone")
    used(tmp_path / "gone.pack")
