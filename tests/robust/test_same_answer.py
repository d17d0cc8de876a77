"""The same input gets the same answer, whatever was read before it and however it arrives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.prefix import strip_prefix
from troubleshooter.read.sources import Source, decoded, from_path, from_text
from troubleshooter.report.model import Report

MIXED = "ValueError: x\n".encode("utf-16-le") * 40 + b"ValueError: plain\n" * 900
"""UTF-16 without a mark at its start, and UTF-8 for most of its first 4 kB."""


def report(tool: Diagnoser, log: bytes | list[bytes] | Path) -> Report:
    """The report on bytes, on bytes in pieces, or on a file."""
    if isinstance(log, Path):
        os.utime(log, (0, 0))  # of a file that is still being written the report says so
        return tool.report(from_path(log))
    return tool.report([Source("text", lambda: decoded(iter(log))) if isinstance(log, list) else from_text(log)])


def told(tool: Diagnoser, log: bytes | list[bytes] | Path) -> str:
    found = report(tool, log).to_dict()
    found["input"]["files"] = []
    return json.dumps(found, default=str).replace(json.dumps(str(log)), '"text"')


@pytest.mark.parametrize(
    ("text", "rank"),
    [
        ("[rank0]:[rank1]: ValueError: x", 1),
        ("[rank1]:[rank2]: FError", 2),
        ("[default3]:[rank11]: ValueError: x", 11),
        ("[rank11]:[default3]: ValueError: x", 11),
        ("[default3]: ValueError: x", 3),
    ],
)
def test_the_rank_of_a_line_is_the_same_each_time(text: str, rank: int, tool: Diagnoser) -> None:
    ranks = [[failure.ranks for failure in report(tool, text.encode()).failures] for _ in range(4)]
    assert ranks == [[[rank]]] * 4


def test_a_rank_of_the_run_tells_more_than_one_of_its_node() -> None:
    assert strip_prefix("[default3]:[rank11]: x")[2] == 11
    assert strip_prefix("[rank8]:[rank9]: x")[2] == 8


@pytest.mark.parametrize("data", [MIXED, "ValueError: x\n".encode("utf-16-le"), b"\x00V\x00a" + b"ValueError: x\n" * 9])
def test_the_sizes_of_the_pieces_change_nothing(data: bytes, tool: Diagnoser, tmp_path: Path) -> None:
    whole = told(tool, data)
    for size in (1, 3, 4, 7, 4096, 65536):
        assert told(tool, [data[at : at + size] for at in range(0, len(data), size)]) == whole
    path = tmp_path / "a.log"
    path.write_bytes(data)
    assert told(tool, path) == whole


def test_a_binary_is_one_however_it_arrives(tool: Diagnoser, tmp_path: Path) -> None:
    data = bytes(range(256)) * 64
    path = tmp_path / "a.log"
    path.write_bytes(data)
    for log in (data, path):
        assert [p["problem"] for p in report(tool, log).input["problems"]] == ["binary"]


def test_a_file_that_is_removed_while_it_is_read_is_still_answered(tool: Diagnoser, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"ValueError: x\n")
    (source,) = from_path(path)
    before = source.chunks

    def chunks() -> Iterator[bytes]:
        for chunk in before():
            path.unlink(missing_ok=True)
            yield chunk

    source.chunks = chunks
    assert [f.exception for f in tool.report([source]).failures] == ["ValueError"]
