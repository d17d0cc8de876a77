"""Compiled databases in a cache: one is loaded only if it is exactly what was written and nobody else can write to the folder;
otherwise it is made anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kb.trusted import is_own_folder
from troubleshooter.read.database import database

WORDS = ["out of memory", "nan", "traceback"]


def found(cache: Path, words: list[str] = WORDS, name: str = "test") -> tuple[list[int], bool]:
    """The numbers of the words that a text holds, and whether the words had to be asked for."""
    asked = []

    def give() -> list[str]:
        asked.append(1)
        return words

    made = database(give, cache=cache, name=name)
    assert made is not None
    hits: list[int] = []
    made.scan(b"a traceback: out of memory", match_event_handler=lambda number, *_: hits.append(number) or None)
    return sorted(hits), bool(asked)


def kept(cache: Path) -> Path:
    (path,) = cache.glob("*.hs")
    return path


def test_a_kept_database_is_used(tmp_path: Path) -> None:
    assert found(tmp_path) == ([0, 2], True)
    assert found(tmp_path) == ([0, 2], False)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.6, 0.999])
def test_a_changed_byte_is_noticed_and_mended(tmp_path: Path, share: float) -> None:
    found(tmp_path)
    content = bytearray(kept(tmp_path).read_bytes())
    content[int(len(content) * share)] ^= 1
    kept(tmp_path).write_bytes(content)
    assert found(tmp_path) == ([0, 2], True)
    assert found(tmp_path) == ([0, 2], False)


@pytest.mark.parametrize("length", [0, 5, 32, 100])
def test_a_cut_off_file_is_noticed(tmp_path: Path, length: int) -> None:
    found(tmp_path)
    kept(tmp_path).write_bytes(kept(tmp_path).read_bytes()[:length])
    assert found(tmp_path) == ([0, 2], True)


def test_another_database_under_this_name_is_noticed(tmp_path: Path) -> None:
    """Whole, and right for its own words: it would find nothing in any log."""
    found(tmp_path)
    (tmp_path / "other").mkdir()
    found(tmp_path / "other", ["wombat"], "other")
    kept(tmp_path).write_bytes(kept(tmp_path / "other").read_bytes())
    assert found(tmp_path) == ([0, 2], True)


@pytest.mark.skipif(os.name == "nt", reason="modes say nothing there")
def test_a_folder_that_others_may_write_to_is_neither_read_nor_written(tmp_path: Path) -> None:
    found(tmp_path)
    assert is_own_folder(tmp_path)
    tmp_path.chmod(0o777)
    assert found(tmp_path) == ([0, 2], True)
    kept(tmp_path).unlink()
    found(tmp_path)
    assert not list(tmp_path.glob("*.hs"))


def test_a_database_that_cannot_be_kept_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    found(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
