"""Scans of many logs: jobs, the record, resuming after a kill, summaries that merge by concatenation."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from troubleshooter.scan import jobs, record
from troubleshooter.scan.summary import summary

KNOWN = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
UNKNOWN = 'Traceback (most recent call last):\n  File "/x/site-packages/quux/core.py", line {n}, in fill\n    go()\nQuuxError: tank {n} of /data/{n} empty\n'


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    for i in range(120):
        path = folder / f"g{i % 5}" / f"job-{i}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(KNOWN if i % 3 == 0 else UNKNOWN.format(n=i) if i % 3 == 1 else "all fine\n")
    (folder / "g0" / "bad.gz").write_bytes(b"\x1f\x8bnot gzip")
    return folder


def scan(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "troubleshooter", "scan", "--format", "json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=120, check=False)


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


def test_an_interrupted_scan_gives_the_report_of_an_undisturbed_one(logs: Path, tmp_path: Path) -> None:
    whole = json.loads(scan("logs", "--record", "whole.jsonl", cwd=logs.parent).stdout)
    kept = logs.parent / "cut.jsonl"
    pick = random.Random(7)
    for _ in range(3):
        command = [sys.executable, "-m", "troubleshooter", "scan", "logs", "--record", "cut.jsonl"]
        process = subprocess.Popen(
            command, cwd=logs.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(pick.uniform(0.1, 0.9))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
    if kept.exists():
        with kept.open("ab") as file:
            file.write(b'{"schema_version": 1, "job": "half a li')
    again = json.loads(scan("logs", "--record", "cut.jsonl", cwd=logs.parent).stdout)
    assert again == whole


def test_only_what_changed_is_done_again(logs: Path) -> None:
    scan("logs", cwd=logs.parent)
    kept = logs.parent / "troubleshoot-scan.jsonl"
    before = kept.read_bytes().count(b"\n")
    (logs / "g0" / "job-5.log").write_text(KNOWN)
    scan("logs", cwd=logs.parent)
    assert kept.read_bytes().count(b"\n") == before + 1


def test_records_merge_by_concatenation(logs: Path) -> None:
    """The recipe of the README: each task of a Slurm array scans its share, then one `cat`."""
    whole = json.loads(scan("logs", "--record", "whole.jsonl", cwd=logs.parent).stdout)
    for part in range(5):
        scan(f"logs/g{part}", "--record", f"part-{part}.jsonl", cwd=logs.parent)
    merged = b"".join((logs.parent / f"part-{part}.jsonl").read_bytes() for part in range(5))
    (logs.parent / "all.jsonl").write_bytes(merged)
    assert json.loads(scan("--summary", "all.jsonl", cwd=logs.parent).stdout) == whole


def test_ranks_of_a_run_are_one_job(tmp_path: Path) -> None:
    for rank in range(4):
        folder = tmp_path / "run1" / "none_x" / "attempt_0" / str(rank)
        folder.mkdir(parents=True)
        for name in ("stdout.log", "stderr.log"):
            (folder / name).write_text("x\n")
    (tmp_path / "slurm-77_0.out").write_text("x\n")
    (tmp_path / "slurm-77_1.out").write_text("x\n")
    (tmp_path / "other.out").write_text("x\n")
    found, missing = jobs.find([str(tmp_path), str(tmp_path / "nope*")])
    assert sorted(len(job.files) for job in found) == [1, 2, 8]
    assert len(missing) == 1


def test_masks() -> None:
    assert record.masked("rank 3 at 0x7f00 in /home/me/x.py, 2.5 GiB") == record.masked("rank 11 at 0x1 in /data/y.py, 99 GiB")


def test_summary_does_not_depend_on_order() -> None:
    rows = {
        f"j{i}": {"job": f"j{i}", "files": [f"f{i}"], "modified": float(i), "diagnosis": {"id": "a", "kind": "failure", "title": "t", "fingerprint": "p", "line": 1}}
        for i in range(9)
    }
    assert summary(rows) == summary(dict(reversed(rows.items())))
