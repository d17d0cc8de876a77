"""A record may be cut, changed, foreign or newer: lines that are not a row are counted and skipped."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from troubleshooter.scan import record
from troubleshooter.scan.job_list import Job
from troubleshooter.scan.record import Rows
from troubleshooter.scan.summary import lines, summary

DIAGNOSIS = {"id": "a", "kind": "failure", "title": "t", "fingerprint": "p", "line": 1, "confidence": "certain"}
UNKNOWN = {"exception": "E", "message": "m", "line": 3, "fingerprint": "q"}


def row(name: str = "j", **changed: Any) -> dict[str, Any]:
    whole = {"schema_version": 1, "job": name, "files": [f"{name}.log"], "stamp": "1:2", "modified": 5.0, "status": 1}
    return {**whole, "diagnosis": DIAGNOSIS, **changed}


def without(*keys: str) -> dict[str, Any]:
    return {key: value for key, value in row().items() if key not in keys}


GARBAGE = {
    "a list as job": row(job=["a"]),
    "a number as job": row(job=7),
    "no job": without("job"),
    "no files": row(files=[]),
    "a text as files": row(files="a.log"),
    "numbers as files": row(files=[1]),
    "files are missing": without("files"),
    "no time": without("modified"),
    "a text as time": row(modified="yesterday"),
    "true as time": row(modified=[True]),
    "a time that no calendar has": row(modified=1e300),
    "a whole time that no calendar has": row(modified=10**400),
    "a text as diagnosis": row(diagnosis="a"),
    "nothing as diagnosis": row(diagnosis=None),
    "a diagnosis without title": row(diagnosis={**DIAGNOSIS, "title": None}),
    "a diagnosis of another kind": row(diagnosis={**DIAGNOSIS, "kind": "rumour"}),
    "a diagnosis with a list as fingerprint": row(diagnosis={**DIAGNOSIS, "fingerprint": []}),
    "a diagnosis with a text as line": row(diagnosis={**DIAGNOSIS, "line": "7"}),
    "an unknown failure without message": {**without("diagnosis"), "unknown": {"exception": "E"}},
    "a list as error": row(error=["e"]),
    "no stamp": without("stamp"),
    "no version": without("schema_version"),
    "a text as version": row(schema_version="1"),
    "true as version": row(schema_version=True),
    "a list": [row()],
    "a number": 7,
}
RAW = {
    "cut": json.dumps(row()).encode()[:-9],
    "garbage": b"\x00\xff\xfe garbage",
    "nul bytes": b"\0" * 4096,
    "a mark of another encoding": json.dumps(row()).encode("utf-16"),
    "not a number as time": json.dumps(row(modified=float("nan"))).encode(),
    "infinity as time": json.dumps(row(modified=float("inf"))).encode(),
    "deep": b"[" * 200_000,
    "deep objects": b'{"a":' * 200_000,
    "many digits": b'{"schema_version": 1' + b"0" * 10_000 + b"}",
}


@pytest.mark.parametrize("line", [*(json.dumps(given).encode() for given in GARBAGE.values()), *RAW.values()], ids=[*GARBAGE, *RAW])
def test_what_is_no_row_is_passed_over(line: bytes, tmp_path: Path) -> None:
    whole = [json.dumps(row(name)).encode() for name in "ab"]
    path = tmp_path / "record.jsonl"
    path.write_bytes(b"\n".join([whole[0], line, whole[1]]) + b"\n")
    found = record.read([path])
    assert [row.job for row in found] == ["a", "b"]
    assert found.passed_over >= 1
    assert lines(summary(found), "en")[0].startswith("2 jobs: 2 failed")


def test_a_line_without_end_is_passed_over_in_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "MAX_ROW_BYTES", 4096)
    path = tmp_path / "record.jsonl"
    path.write_bytes(json.dumps(row("a")).encode() + b"\n" + b"x" * 50_000 + b"\n" + json.dumps(row("b")).encode() + b"\n")
    found = record.read([path])
    assert ([row.job for row in found], found.passed_over) == (["a", "b"], 1)


def read(written: Iterable[bytes]) -> Rows:
    """The rows of these lines."""
    found = Rows()
    found.add(written)
    return found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def changed_rows(draw: st.DrawFn) -> bytes:
    """A row in which a few parts are replaced, missing or cut."""
    whole = copy.deepcopy(row())
    if draw(st.booleans()):
        del whole["diagnosis"]
        whole["unknown"] = dict(UNKNOWN)
    for _ in range(draw(st.integers(0, 3))):
        where = draw(st.sampled_from([whole, *(part for part in whole.values() if isinstance(part, dict))]))
        key = draw(st.sampled_from(sorted(where)) if where else st.text(max_size=3))
        if draw(st.booleans()):
            where[key] = draw(JSON)
        else:
            where.pop(key, None)
    line = json.dumps(whole, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    return line[: draw(st.integers(0, len(line)))] if draw(st.booleans()) else line


@given(st.lists(changed_rows() | st.binary(max_size=60), max_size=6), st.sampled_from(["en", "zh"]))
def test_no_record_stops_a_summary(given_lines: list[bytes], lang: str) -> None:
    text = b"\n".join([*given_lines, json.dumps(row("kept")).encode(), b""])
    found = read(text.split(b"\n"))
    assert found.get("kept") is not None
    assert len(list(found)) + found.passed_over + found.newer <= len(text.split(b"\n"))
    for shown in lines(summary(found), lang):
        assert shown.isprintable()


@given(st.text(), st.text(), st.text(min_size=1))
def test_what_is_written_is_read(name: str, error: str, file: str) -> None:
    """This includes names of files that are not UTF-8."""
    job = Job(name + "\udcff", (file + "\udcff", "b"), "1:2", 7.5)
    written = record.line_of(job, record.failed(error))
    assert written.decode("utf-8").count("\n") == 1
    (found,) = read([written])
    assert (found.job, found.file, found.stamp, found.modified, found.error) == (job.name, job.files[0], "1:2", 7.5, error)


def test_foreign_words_are_printed_without_control_characters() -> None:
    evil = "\x1b]52;c;eA==\x07 \x9b31m \u202e \udcff"
    shown = row(evil, files=[evil], diagnosis={**DIAGNOSIS, "id": evil, "title": evil})
    broken = row("b" + evil, error=evil)
    unknown = {**row("c" + evil, files=[evil], unknown={**UNKNOWN, "message": evil})}
    del unknown["diagnosis"]
    for lang in ("en", "zh"):
        found = read(json.dumps(given).encode() for given in (shown, broken, unknown))
        assert len(list(found)) == 3
        assert all(line.isprintable() for line in lines(summary(found), lang))


def test_summary_does_not_depend_on_order() -> None:
    written = [json.dumps(row(f"j{i}", modified=float(i))).encode() for i in range(9)]
    assert summary(read(written)) == summary(read(reversed(written)))


@pytest.mark.parametrize("cut", [b"", b'{"schema_', b'{"schema_version": 1, "job": "half'])
def test_a_row_that_was_cut_is_cut_off(tmp_path: Path, cut: bytes) -> None:
    path = tmp_path / "record.jsonl"
    path.write_bytes(b"x" * 200_000 + b"\nwhole\n" + cut)
    record.drop_cut_row(path)
    assert path.read_bytes() == b"x" * 200_000 + b"\nwhole\n"


def test_a_last_line_of_another_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_bytes(b"step 1\nstep 2")
    record.drop_cut_row(path)
    assert path.read_bytes() == b"step 1\nstep 2\n"
