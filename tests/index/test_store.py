"""The index of messages: built from made-up releases, and asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb.index.message import IndexedMessage, IndexUnreadable
from kb.index.store import MessageIndex
from tests.index.made import made


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MessageIndex]:
    index, _ = made(tmp_path_factory.mktemp("index"))
    yield index
    index.close()


def only(found: list[IndexedMessage]) -> IndexedMessage:
    [one] = found
    return one


def test_message_is_found_with_its_holes_filled_in(index: MessageIndex) -> None:
    found = only(index.find("evaluation wants a dataset, strategy is steps", "ValueError"))
    assert (found.package, found.kind, found.extent) == ("made-up", "raise", "whole")
    assert found.values == (("args.eval_strategy", "steps"),)
    assert found.quality == len("evaluationwantsadataset,strategyis")


def test_guards_and_parameters_are_those_of_the_latest_release(index: MessageIndex) -> None:
    site = only(index.find("evaluation wants a dataset, strategy is steps")).sites[0]
    assert (site.file, site.function) == ("madeup/trainer.py", "Trainer.__init__")
    assert [(guard.condition, guard.holds) for guard in site.guards] == [
        ("args.eval_strategy != 'no' and eval_dataset is None and (not args.lazy)", True)
    ]
    assert [(item.name, item.default) for item in site.parameters] == [("args", None), ("eval_dataset", "None")]


def test_spans_tell_since_and_until(index: MessageIndex) -> None:
    stays = only(index.find("evaluation wants a dataset, strategy is steps"))
    assert (stays.releases, stays.first_is_oldest, stays.last_is_newest) == ((("0.9", "1.1"),), True, True)
    gone = only(index.find("only in the old release"))
    assert (gone.releases, gone.first_is_oldest, gone.last_is_newest) == ((("0.9", "0.9"),), True, False)
    came = only(index.find("train() will be renamed to fit()"))
    assert (came.releases, came.first_is_oldest, came.last_is_newest) == ((("1.0", "1.1"),), False, True)


def test_reworded_message_tells_its_successor(index: MessageIndex) -> None:
    old = only(index.find("beta should not be negative but is -1"))
    assert old.replaced == "beta must not be negative but it is {args.beta}"
    assert only(index.find("only in the old release")).replaced is None


def test_message_inside_a_line_and_first_line_alone(index: MessageIndex) -> None:
    line = "[WARNING|trainer.py:9] 2024-01-01 >> the old trainer is training for 300 steps"
    assert only(index.find(line)).values == (("steps", "300"),)
    first = only(index.find("no data could be found below /data/x", "FileNotFoundError"))
    assert (first.extent, first.values) == ("beginning", (("path", "/data/x"),))


def test_white_space_does_not_count(index: MessageIndex) -> None:
    assert index.find("  evaluation wants a\n   dataset,  strategy is steps ")


def test_exception_package_and_function_narrow_the_question(index: MessageIndex) -> None:
    text = "evaluation wants a dataset, strategy is steps"
    assert index.find(text, "TypeError") == []
    assert index.find(text, "builtins.ValueError", "madeup") == index.find(text, None, "made-up")
    assert index.find(text, package="torch") == []
    assert only(index.find(text, function="__init__")).in_function
    assert not only(index.find(text, function="train")).in_function


def test_generic_text_is_found_only_where_the_function_agrees(index: MessageIndex) -> None:
    assert index.find("out of range", "IndexError") == []
    assert only(index.find("out of range", "IndexError", function="load")).in_function


def test_all_messages_of_a_function(index: MessageIndex) -> None:
    found = index.at("madeup/trainer.py", "train")
    assert sorted(item.kind for item in found) == ["log", "raise", "warn"]
    assert {item.kind for item in index.at("madeup/data.py")} == {"raise"}
    assert index.at("elsewhere.py") == []


def test_other_text_is_not_found(index: MessageIndex) -> None:
    for text in ("", "   ", "dataset", "evaluation wants", "x" * 100_000, "evaluation wants a model, strategy is", "{'loss': 0.1}"):
        assert index.find(text) == []


def test_manifest_tells_releases_counts_and_what_was_left_out(tmp_path: Path) -> None:
    index, manifest = made(tmp_path)
    index.close()
    assert manifest == json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["left_out"] == {"made-up 0.8": "no archive"}
    read = manifest["read"]["made-up"]  # type: ignore[index]
    assert list(read) == ["0.9", "1.0", "1.1"]
    assert read["0.9"] == ["hash of 0.9", 2, 6]
    assert read["1.0"] == ["hash of 1.0", 2, 5]
    assert (manifest["messages"], manifest["vanished"], manifest["replaced"]) == (8, 3, 1)


def test_same_releases_give_the_same_bytes(tmp_path: Path) -> None:
    hashes = set()
    for name in ("a", "b"):
        index, manifest = made(tmp_path / name)
        index.close()
        hashes.add(manifest["sha256"])
    assert len(hashes) == 1


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + b"\0" * 200])
def test_damaged_index_is_refused_with_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "messages.sqlite"
    path.write_bytes(content)
    with pytest.raises(IndexUnreadable, match="install"):
        MessageIndex(path)


def test_messages_are_searched_by_some_of_their_words(index: MessageIndex) -> None:
    assert [one.exception for one in index.search("dataset evaluation wants")] == ["ValueError"]
    assert index.search("made-up renamed fit")[0].package == "made-up"
    assert index.search("evaluation wants a dataset, strategy is steps")[0].package == "made-up"
    assert index.search("evaluation wants a banana of quantum cheese") == []
    assert index.search("") == []


def test_messages_of_a_package_are_read_by_number(index: MessageIndex) -> None:
    every = index.of_package("made-up")
    assert len(every) == len(every[:]) > 3
    [one] = index.of_package("made-up", "evaluation dataset")
    assert one.sites[0].function == "Trainer.__init__"
    assert len(index.of_package("elsewhere")) == 0


def test_changes_count_what_came_and_went_with_each_release(index: MessageIndex) -> None:
    changes = index.changes("made-up")
    assert [one.release for one in changes] == list(index.releases("made-up"))[1:]
    gone, came = index.find("only in the old release"), index.find("train() will be renamed to fit()")
    assert gone
    assert came
    first = changes[0]
    assert first.arrived >= 1
    assert first.vanished >= 1
