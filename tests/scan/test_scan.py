"""Scans of many logs: what is found, resuming, summaries that merge by concatenation, files of every kind."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scan.conftest import KNOWN, command, scan
from tests.waiting import PATIENCE_SECONDS
from troubleshooter.outcome import masked


def test_groups_by_root_cause_and_masks_the_unknown(logs: Path) -> None:
    done = scan("logs", cwd=logs.parent)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["jobs"] == 121
    assert [(g["id"], g["jobs"]) for g in told["failures"]] == [("cache-object-float", 40)]
    (unknown,) = told["unknown"]
    assert unknown["jobs"] == 40
    assert unknown["title"] == "QuuxError: tank # of # empty"
    assert unknown["new"].startswith("troubleshoot new logs/")
    assert told["healthy"] == 40
    assert len(told["unreadable"]) == 1


def test_only_what_changed_is_done_again(logs: Path) -> None:
    scan("logs", cwd=logs.parent)
    kept = logs.parent / "troubleshoot-scan.jsonl"
    before = kept.read_bytes().count(b"\n")
    (logs / "g0" / "job-5.log").write_text(KNOWN)
    scan("logs", cwd=logs.parent)
    assert kept.read_bytes().count(b"\n") == before + 1


def test_records_merge_by_concatenation(logs: Path) -> None:
    """The recipe of docs/using.md: each task of a Slurm array scans its part, and `cat` joins the records."""
    whole = json.loads(scan("logs", "--record", "whole.jsonl", cwd=logs.parent).stdout)
    parts = [["logs/g0"], ["logs/g1", "logs/g2", "logs/g3", "logs/g4"]]
    for number, folders in enumerate(parts):
        scan(*folders, "--record", f"part-{number}.jsonl", cwd=logs.parent)
    merged = b"".join((logs.parent / f"part-{number}.jsonl").read_bytes() for number in range(len(parts)))
    (logs.parent / "all.jsonl").write_bytes(merged)
    assert json.loads(scan("--summary", "all.jsonl", cwd=logs.parent).stdout) == whole


def test_the_number_of_processes_changes_nothing(logs: Path) -> None:
    one, three = (scan("logs", "--jobs", n, "--record", f"{n}.jsonl", cwd=logs.parent).stdout for n in "13")
    assert one == three


def test_whatever_lies_in_the_folder_the_logs_are_scanned(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep.log").mkdir(parents=True)
    (folder / "a.log").write_text(KNOWN)
    (folder / "latest.log").symlink_to("gone.log")
    (folder / "same.log").symlink_to("a.log")
    (folder / "deep.log" / "loop").symlink_to(folder)
    (folder / "ring.log").symlink_to("ring.log")
    odd = os.fsencode(folder) + b"/\xff\x1b[31m.log"
    with open(odd, "w") as file:
        file.write(KNOWN)
    os.mkfifo(folder / "pipe.log")
    (folder / "zeros.log").symlink_to("/dev/zero")
    (folder / "pipe-link.log").symlink_to("pipe.log")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "socket.log"))
    done = scan("logs", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert [(group["id"], group["jobs"]) for group in told["failures"]] == [("cache-object-float", 2)]
    assert {Path(skip["path"]).name: skip["reason"].split(" (")[0] for skip in told["skipped"]} == {
        "latest.log": "a link to nothing",
        "ring.log": "a link to nothing",
        "pipe.log": "a named pipe, not a regular file",
        "pipe-link.log": "a named pipe, not a regular file",
        "socket.log": "a socket, not a regular file",
        "zeros.log": "a device, not a regular file",
    }
    again = scan("logs", cwd=tmp_path)  # from the record, with the odd name in it
    assert again.stdout == done.stdout
    assert (tmp_path / "troubleshoot-scan.jsonl").read_bytes().count(b"\n") == 2


def test_nothing_but_printable_text_is_printed(tmp_path: Path) -> None:
    name = b"\xff\x1b[31m.log"
    (tmp_path / "logs").mkdir()
    with open(os.fsencode(tmp_path / "logs") + b"/" + name, "w") as file:
        file.write("ValueError: tank is empty\n")
    (tmp_path / "logs" / "\x1b]52;c;eA==\x07.log").symlink_to("gone")
    done = scan("logs", "--format", "terminal", "--lang", "en", cwd=tmp_path)
    assert done.stdout.replace("\n", "").isprintable()
    assert r"logs/\xff\x1b[31m.log" in done.stdout
    assert r"troubleshoot new $'logs/\xff\x1b[31m.log'" in done.stdout


def test_an_empty_folder_says_what_it_passed_over(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    os.mkfifo(tmp_path / "logs" / "pipe.log")
    done = scan("logs", "no\x1bthing", cwd=tmp_path)
    assert done.returncode == 2
    assert "pipe.log: a named pipe, not a regular file" in done.stderr
    assert r"no\x1bthing: no such file or folder" in done.stderr
    assert not (tmp_path / "troubleshoot-scan.jsonl").exists()


def test_a_record_that_cannot_be_written_is_told(logs: Path) -> None:
    done = scan("logs", "--record", "no/such/folder.jsonl", cwd=logs.parent)
    assert done.returncode == 2
    assert "no/such/folder.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("summed_up", [False, True])
def test_a_record_of_a_newer_version_is_told(logs: Path, summed_up: bool) -> None:
    kept = logs.parent / "kept.jsonl"
    scan("logs", "--record", "kept.jsonl", cwd=logs.parent)
    newer = b'{"schema_version": 2, "job": "logs/g0/job-0.log", "anything": []}\n'
    kept.write_bytes(kept.read_bytes() + newer + b"garbage\n")
    given = ["--summary", "kept.jsonl"] if summed_up else ["logs", "--record", "kept.jsonl"]
    told = json.loads(scan(*given, cwd=logs.parent).stdout)
    assert (told["jobs"], told["rows_of_newer_version"], told["lines_passed_over"]) == (121, 1, 1)
    shown = scan(*given, "--format", "terminal", "--lang", "en", cwd=logs.parent).stdout
    assert "Rows of the record that a newer troubleshoot wrote, not counted above: 1; upgrade to read them" in shown


def test_masks() -> None:
    assert masked("rank 3 at 0x7f00 in /home/me/x.py, 2.5 GiB") == masked("rank 11 at 0x1 in /data/y.py, 99 GiB")


@pytest.mark.skipif(sys.platform == "win32", reason="needs locks of POSIX")
def test_two_scans_on_one_record_are_refused(logs: Path) -> None:
    import fcntl

    kept = logs.parent / "kept.jsonl"
    kept.write_bytes(b"")
    with kept.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        done = scan("logs", "--record", "kept.jsonl", cwd=logs.parent)
    assert done.returncode == 2
    assert done.stderr == "troubleshoot: kept.jsonl: another scan writes to it; wait until that has ended, or name another file\n"
    assert kept.read_bytes() == b""
    assert scan("logs", "--record", "kept.jsonl", cwd=logs.parent).returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_full_disk_is_told_and_nothing_is_lost(logs: Path) -> None:
    """A limit of a file's size stands for the disk: a row is cut in its middle."""
    import resource

    whole = scan("logs", "--record", "whole.jsonl", cwd=logs.parent)
    limited = subprocess.run(
        command("logs", "--record", "kept.jsonl", "--format", "json", "--jobs", "1"), cwd=logs.parent, capture_output=True, text=True,
        timeout=PATIENCE_SECONDS, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )  # fmt: skip
    assert limited.returncode == 2
    assert limited.stderr.startswith("troubleshoot: kept.jsonl: cannot be written: ")
    assert limited.stderr.endswith("what was written is kept: make room, and the same command goes on\n")
    assert (logs.parent / "kept.jsonl").stat().st_size == 20_000
    assert scan("logs", "--record", "kept.jsonl", cwd=logs.parent).stdout == whole.stdout
    assert (logs.parent / "kept.jsonl").read_bytes().count(b"\n") == 121
