"""Paths become jobs, whatever happens to the files meanwhile."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from troubleshooter.read.folder import named_like_a_log
from troubleshooter.read.sources import from_path
from troubleshooter.scan import jobs


def test_ranks_of_a_run_are_one_job(tmp_path: Path) -> None:
    for rank in range(4):
        folder = tmp_path / "run1" / "none_x" / "attempt_0" / str(rank)
        folder.mkdir(parents=True)
        for name in ("stdout.log", "stderr.log"):
            (folder / name).write_text("x\n")
    (tmp_path / "slurm-77_0.out").write_text("x\n")
    (tmp_path / "slurm-77_1.out").write_text("x\n")
    (tmp_path / "other.out").write_text("x\n")
    found, skipped = jobs.find([str(tmp_path), str(tmp_path / "nope*")])
    assert sorted(len(job.files) for job in found) == [1, 1, 1, 8]  # slurm-77_0 and _1: tasks of an array, runs of their own
    assert [skip.path for skip in skipped] == [str(tmp_path / "nope*")]


def test_a_file_that_is_named_twice_is_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("x\n")
    (found,) = jobs.find([str(tmp_path), str(tmp_path / "a.log"), str(tmp_path / "*.log")]).jobs
    assert found.files == (str(tmp_path / "a.log"),)


def test_a_link_is_a_job_where_what_it_names_is_none(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.log").write_text("x\n")
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("first.log", "second.log"):
        (folder / name).symlink_to("../elsewhere/a.log")
    assert [job.name for job in jobs.find([str(folder)]).jobs] == [str(folder / "first.log")]
    assert [job.name for job in jobs.find([str(tmp_path)]).jobs] == [str(tmp_path / "elsewhere" / "a.log")]


def test_files_that_vanish_while_they_are_listed_are_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that vanish after a folder was listed and before they are examined."""
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
        for number in range(3):
            (folder / f"{number}.log").write_text("x\n")
    really = os.stat

    def looked_at(path: object, *args: object, **kwargs: object) -> os.stat_result:
        if str(path) == str(folders[0] / "0.log"):
            (folders[0] / "1.log").unlink(missing_ok=True)
            shutil.rmtree(folders[1], ignore_errors=True)
        return really(path, *args, **kwargs)  # type: ignore[arg-type, call-overload, no-any-return]

    monkeypatch.setattr(os, "stat", looked_at)
    found, skipped = jobs.find([str(tmp_path)])
    assert [job.name for job in found] == [str(tmp_path / name) for name in ("a/0.log", "a/2.log", "c/0.log", "c/1.log", "c/2.log")]
    assert str(folders[0] / "1.log") in [skip.path for skip in skipped]


@pytest.fixture
def of_nobody() -> Iterator[Path]:
    """A folder that a user without rights may enter; while the test runs, this process is such a user."""
    folder = Path(tempfile.mkdtemp(prefix="troubleshoot-test-"))
    try:
        yield folder
    finally:
        if os.geteuid() != os.getuid():
            os.seteuid(os.getuid())
        shutil.rmtree(folder)


def test_an_unreadable_folder_is_told(of_nobody: Path) -> None:
    (of_nobody / "open").mkdir()
    (of_nobody / "open" / "a.log").write_text("x\n")
    (of_nobody / "shut").mkdir()
    (of_nobody / "shut" / "b.log").write_text("x\n")
    of_nobody.chmod(0o755)
    (of_nobody / "open").chmod(0o755)
    (of_nobody / "shut").chmod(0)
    if os.getuid() == 0:
        os.seteuid(65534)
    try:
        found, skipped = jobs.find([str(of_nobody)])
    finally:
        os.seteuid(os.getuid())
        (of_nobody / "shut").chmod(0o700)
    assert [job.name for job in found] == [str(of_nobody / "open" / "a.log")]
    assert skipped == [(str(of_nobody / "shut"), "Permission denied")]


@pytest.mark.parametrize(
    ("name", "is_log"),
    [
        ("train.log", True), ("slurm-1.out", True), ("stderr", True), ("notebook.ipynb", True), ("x.log.gz", True),
        ("trainer_log.jsonl", True), ("logging.jsonl", True), ("train.metrics.jsonl", True), ("trainer_state.json", True),
        ("train.jsonl", False), ("dialogues.jsonl", False), ("troubleshoot-scan.jsonl", False), ("scan-3.jsonl", False),
        (".hidden.log", False), ("model.safetensors", False), ("MODEL.BIN", False), ("train.py", False),
    ],
)  # fmt: skip
def test_a_run_and_a_scan_agree_on_what_a_log_is(tmp_path: Path, name: str, is_log: bool) -> None:
    (tmp_path / "below" / ".cache").mkdir(parents=True)
    (tmp_path / "always.log").write_text("x\n")
    (tmp_path / "below" / name).write_text("x\n")
    (tmp_path / "below" / ".cache" / "hidden.log").write_text("x\n")
    want = {str(tmp_path / "always.log")} | ({str(tmp_path / "below" / name)} if is_log else set())
    assert named_like_a_log(name) is is_log
    assert {source.name for source in from_path(tmp_path)} == want
    assert {file for job in jobs.find([str(tmp_path)]).jobs for file in job.files} == want
