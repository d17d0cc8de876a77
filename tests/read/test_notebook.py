"""Notebooks: on one line or many, cut anywhere, or no notebook at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from troubleshooter.pipeline import Diagnoser
from troubleshooter.read.notebook import Notebook
from troubleshooter.read.sources import from_path

TRACEBACK = ["Traceback (most recent call last):", '  File "a.py", line 3, in f', "    g()", "ValueError: the answer"]


def notebook(printed: int = 3) -> dict[str, Any]:
    stream = {"output_type": "stream", "name": "stdout", "text": [f"step {n}\n" for n in range(printed)]}
    error = {"output_type": "error", "ename": "ValueError", "evalue": "the answer", "traceback": TRACEBACK}
    return {
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# not read\n"]},
            {"cell_type": "code", "execution_count": 7, "metadata": {}, "outputs": [stream], "source": ["print(1)\n"]},
            {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [error], "source": ["f()"]},
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }  # fmt: skip


def printed(data: bytes) -> list[tuple[str, str]]:
    return [(line.stream, line.text) for line in Notebook([data]).lines(0)]


@pytest.mark.parametrize("indent", [None, 1])
def test_what_the_cells_printed_with_the_cell(indent: int | None) -> None:
    found = printed(json.dumps(notebook(), indent=indent).encode())
    assert found == [*(("cell [7]", f"step {n}") for n in range(3)), *(("cell [#3]", text) for text in TRACEBACK)]


def test_a_notebook_on_one_line_that_is_longer_than_a_line_may_be(tmp_path: Path, tool: Diagnoser) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(notebook(20_000)))
    report = tool.report(from_path(path))
    assert [f.exception for f in report.failures] == ["ValueError"]
    assert report.input["complete"]
    assert report.input["problems"] == []


@pytest.mark.parametrize("indent", [None, 1])
def test_a_notebook_that_is_cut_anywhere(indent: int | None, tmp_path: Path, tool: Diagnoser) -> None:
    whole = json.dumps(notebook(), indent=indent).encode()
    path = tmp_path / "a.ipynb"
    before = 0
    for end in range(2, len(whole), 37):
        found = printed(whole[:end])
        assert len(found) >= before
        before = len(found)
    path.write_bytes(whole[: whole.index(b"ValueError: the answer") + 30])
    report = tool.report(from_path(path))
    assert [f.exception for f in report.failures] == ["ValueError"]
    assert report.input["problems"][0]["problem"] == "damaged"


@pytest.mark.parametrize(
    "text",
    [
        '{"cells": [1]}', "null", "[" * 50_000, "{" * 50_000, '{"cells": 5}', '{"cells": [{"outputs": 5}]}', "]]]}}}",
        '{"cells": [{"outputs": [{"traceback": [1, null]}]}]}', '{"cells": [{"outputs": [{"text": {"a": 1}}]}]}', '"\\ud800"',
        "\x00\x01\x02", '{"cells": null, "x": "',
    ],
)  # fmt: skip
def test_what_is_no_notebook_is_a_sentence_and_no_traceback(text: str, tmp_path: Path, tool: Diagnoser) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    report = tool.report(from_path(path))
    assert [problem["problem"] for problem in report.input["problems"]] in (["blank"], ["damaged"])


def test_an_exception_without_its_traceback() -> None:
    output = {"output_type": "error", "ename": "ValueError", "evalue": "bad", "traceback": []}
    data = json.dumps({"cells": [{"cell_type": "code", "execution_count": 1, "outputs": [output]}], "nbformat": 4})
    assert printed(data.encode()) == [("cell [1]", "ValueError: bad")]


def test_evidence_names_the_cell(tmp_path: Path, tool: Diagnoser) -> None:
    book = notebook()
    book["cells"][2]["execution_count"] = 12
    book["cells"][2]["outputs"][0]["traceback"] = ["AttributeError: 'HybridCache' object has no attribute 'float'"]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps(book))
    report = tool.report(from_path(path))
    assert {evidence.where for evidence in report.diagnoses[0].evidence} == {"cell [12]"}
