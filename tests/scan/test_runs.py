"""Which files are one run: ranks, streams, restarts and crash facts; and which are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scan.conftest import KNOWN, scan
from troubleshooter.scan import jobs
from troubleshooter.scan.job_list import FoundFile, JobList
from troubleshooter.scan.runs import run_of

ONE_RUN = {
    "streams": ["a/train.out", "a/train.err", "a/train.log"],
    "torchrun": ["r/x/attempt_0/0/stdout.log", "r/x/attempt_0/1/stderr.log", "r/x/attempt_1/0/error.json"],
    "retries of troubleshoot run": ["r/output.log", "r/attempt-2/output.log"],
    "ranks": ["r/rank0.log", "r/rank_1.log", "r/rank-12.log"],
    "folders of ranks": ["r/rank_0/train.log", "r/rank_1/train.log"],
    "tasks of a Slurm job": ["slurm-77-0.out", "slurm-77-1.out", "slurm-77.out", "slurm-77.err"],
    "tasks of one job of a Slurm array": ["slurm-77_4_0.out", "slurm-77_4_1.out", "slurm-77_4.out"],
    "restarts": ["r/train.log", "r/train.restart1.log", "r/train-retry2.log", "r/train_attempt_3.out"],
    "rotated": ["r/train.log", "r/train.log.1", "r/train.log.2.gz"],
    "in a bucket": ["s3://b/r/rank0.out", "s3://b/r/rank1.err"],
}  # fmt: skip


@pytest.mark.parametrize("paths", ONE_RUN.values(), ids=ONE_RUN)
def test_files_of_one_run(paths: list[str]) -> None:
    assert len({run_of(path) for path in paths}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("slurm-77_0.out", "slurm-77_1.out"),  # tasks of an array: Slurm's own naming
        ("slurm-77.out", "slurm-78.out"),
        ("a/train.log", "b/train.log"),
        ("run-1/train.log", "run-2/train.log"),
        ("train-7b.log", "train-13b.log"),
        ("llama-3.1.log", "llama-3.2.log"),
        ("lr-1e-4.log", "lr-1e-5.log"),
        ("crank1.log", "crank2.log"),
        ("attempt-1/train.log", "attempt-2/train.log"),  # nobody's folders: an experiment of this name, perhaps
        ("s3://one/a.log", "s3://two/a.log"),
    ],
)
def test_files_of_two_runs(one: str, other: str) -> None:
    assert run_of(one) != run_of(other)


def test_crash_facts_belong_to_their_run() -> None:
    left_out: list[str] = []
    found = JobList()
    found.add(
        FoundFile(path, "1", 0.0, 1)
        for path in [
            "a/attempt-2/facts/0-9.crash.json", "a/attempt-2/output.log", "a/facts/0-1.crash.json", "a/other.log", "a/output.log",
            "b/crash-facts/troubleshoot-crash-0-5.json", "b/train.err", "b/train.out",
            "c/one.log", "c/troubleshoot-crash-0-5.json", "c/two.log",
            "d/e/troubleshoot-crash-0-5.json", "d/e/troubleshoot-crash-1-6.json",
        ]
    )  # fmt: skip
    found.claim_facts(left_out.append)
    assert {job.name: list(job.files) for job in found} == {
        "a/output.log": ["a/attempt-2/output.log", "a/output.log", "a/attempt-2/facts/0-9.crash.json", "a/facts/0-1.crash.json"],
        "a/other.log": ["a/other.log"],
        "b/train.log": ["b/train.err", "b/train.out", "b/crash-facts/troubleshoot-crash-0-5.json"],
        "c/one.log": ["c/one.log"],
        "c/two.log": ["c/two.log"],
        "d/e": ["d/e/troubleshoot-crash-0-5.json", "d/e/troubleshoot-crash-1-6.json"],
    }
    assert left_out == ["c/troubleshoot-crash-0-5.json"]


def crash_facts() -> str:
    from troubleshooter.hook import crash_facts

    try:
        raise AttributeError("'HybridCache' object has no attribute 'float'")
    except AttributeError as error:
        return json.dumps(crash_facts(error))


def test_a_run_of_troubleshoot_run_is_one_job(tmp_path: Path) -> None:
    run = tmp_path / "troubleshoot-runs" / "20261123-101112-train"
    (run / "facts").mkdir(parents=True)
    (run / "output.log").write_text(KNOWN)
    for rank in range(2):
        (run / "facts" / f"{rank}-{90 + rank}.crash.json").write_text(crash_facts())
    for name in ("run.json", "report.json", "state.jsonl"):
        (run / name).write_text("{}\n")
    told = json.loads(scan("troubleshoot-runs", cwd=tmp_path).stdout)
    assert (told["jobs"], told["files"]) == (1, 3)
    assert [(group["id"], group["jobs"]) for group in told["failures"]] == [("cache-object-float", 1)]
    assert told["failures"][0]["examples"] == ["troubleshoot-runs/20261123-101112-train/output.log:1"]


def test_crash_facts_alone_are_diagnosed(tmp_path: Path) -> None:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "troubleshoot-crash-0-7.json").write_text(crash_facts())
    told = json.loads(scan("facts", cwd=tmp_path).stdout)
    assert (told["jobs"], [group["id"] for group in told["failures"]]) == (1, ["cache-object-float"])


def test_the_files_of_each_run_are_shown(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name in ("rank0.log", "rank1.log", "o\nther.log"):
        (tmp_path / "logs" / name).write_text(KNOWN)
    done = scan("logs", "--list", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "schema_version": 1,
        "runs": [
            {"job": "logs/o\nther.log", "files": ["logs/o\nther.log"]},
            {"job": "logs/rank.log", "files": ["logs/rank0.log", "logs/rank1.log"]},
        ],
        "skipped": [],
    }
    shown = scan("logs", "--list", "--format", "terminal", "--lang", "en", cwd=tmp_path)
    assert shown.stdout.splitlines() == [
        "2 jobs in 3 files", "", r"logs/o\nther.log", "logs/rank.log", "         logs/rank0.log", "         logs/rank1.log",
    ]  # fmt: skip
    assert not (tmp_path / "troubleshoot-scan.jsonl").exists()


def test_a_stamp_tells_a_change_of_any_file(tmp_path: Path) -> None:
    for name in ("rank0.log", "rank1.log"):
        (tmp_path / name).write_text("x\n")
    (before,) = jobs.find([str(tmp_path)]).jobs
    (tmp_path / "rank1.log").write_text("xy\n")
    (after,) = jobs.find([str(tmp_path)]).jobs
    assert before.stamp != after.stamp
