"""``troubleshoot search`` finds messages of libraries, below the entries and marked as what they are."""

from __future__ import annotations

import json

import pytest

from troubleshooter.cli.knowledge import search


def test_messages_stand_below_the_entries_with_place_and_releases(capsys: pytest.CaptureFixture[str]) -> None:
    assert search(["boft_block_size", "divisible"], [], "en", "text") == 0
    entries, _, messages = capsys.readouterr().out.partition("Messages in the source of libraries")
    assert "peft-block-sizes" in entries
    assert "peft/tuners/boft/layer.py, BOFTLayer.update_layer" in messages
    assert "peft 0.11.0 - " in messages


def test_as_json_each_find_says_which_kind_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert search(["boft_block_size", "divisible"], [], "en", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {one["kind"] for one in found} == {"entry", "message"}
    assert all({"id", "title", "score"} <= set(one) for one in found)
    assert all(one["id"] is None for one in found if one["kind"] == "message")


def test_nothing_similar_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert search(["zzqqxx"], [], "en", "text") == 3
    assert "nothing similar" in capsys.readouterr().err
