"""A listing of a hundred thousand keys, and a record of as many rows, take little memory; what does not fit on the disk is a sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scan.conftest import command
from tests.waiting import PATIENCE_SECONDS

# Prints the number of jobs that were found and of those that were summed up, and by how many MiB the peak of memory rose.
MEASURED = """
import contextlib, json, resource, sys
from pathlib import Path
from types import SimpleNamespace
from troubleshooter.scan import jobs, record, table
from troubleshooter.scan.places.listed import ListedLog
from troubleshooter.scan.run import scan
from troubleshooter.scan.summary import summary
table.MEMORY_KIB = 2048
names = (f"s3://bucket/team-{n % 97}/2026/a-rather-long-name-of-an-experiment/job-{n}/train.log" for n in range(int(sys.argv[1])))
places = SimpleNamespace(listing=lambda url, skip: (ListedLog(name, "10:2026-11-20", 1.7e9, 10) for name in names))
class Nothing:
    capacity, where = 4, ""
    def rows(self, shards):
        for shard in shards:
            yield [record.line_of(job, {"status": 0}) for job in shard]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
found = jobs.find(["s3://bucket"], places).jobs
known = scan(found, Path(sys.argv[2]), contextlib.nullcontext(Nothing()), bar=False)
print(json.dumps([len(found), summary(known)["healthy"], peak() - before]))
"""


def test_memory_does_not_grow_with_the_number_of_jobs(tmp_path: Path) -> None:
    """The names of these jobs alone are 9 MB, and each of their rows was an object of 1 KB once."""
    many = 100_000
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(many), str(tmp_path / "record.jsonl")], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=True
    )  # fmt: skip
    found, summed_up, rose = json.loads(done.stdout)
    assert (found, summed_up) == (many, many)
    assert rose < 20, f"{rose} MiB"


@pytest.mark.skipif(sys.platform == "win32", reason="no limit for the size of a file")
def test_a_list_that_does_not_fit_on_the_disk_is_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(1500):
        (folder / f"{number}-{'x' * 200}.log").touch()
    (tmp_path / "sitecustomize.py").write_text(
        "import resource, signal\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from troubleshooter.scan import table\n"
        "table.MEMORY_KIB = 64\n"
    )
    done = subprocess.run(
        command("logs", "--list"), cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', os.getcwd())}"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("troubleshoot: the list of jobs does not fit into ")
    assert "set SQLITE_TMPDIR" in done.stderr
    assert "Traceback" not in done.stderr
