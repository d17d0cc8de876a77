"""What the tests of scans share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_SECONDS

KNOWN = "AttributeError: 'HybridCache' object has no attribute 'float'\n"
UNKNOWN = 'Traceback (most recent call last):\n  File "/x/site-packages/quux/core.py", line {n}, in fill\n    go()\nQuuxError: tank {n} of /data/{n} empty\n'


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "troubleshooter", "scan", *arguments]


def scan(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A scan that is run to its end."""
    return subprocess.run(
        command("--format", "json", *arguments), capture_output=True, encoding="utf-8", errors="surrogateescape", cwd=cwd,
        timeout=PATIENCE_SECONDS, check=False, env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder of 121 logs: 40 of a known failure, 40 of an unknown one, 40 healthy ones and one that cannot be read."""
    folder = tmp_path / "logs"
    for i in range(120):
        path = folder / f"g{i % 5}" / f"job-{i}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(KNOWN if i % 3 == 0 else UNKNOWN.format(n=i) if i % 3 == 1 else "all fine\n")
    (folder / "g0" / "bad.gz").write_bytes(b"\x1f\x8bnot gzip")
    return folder
