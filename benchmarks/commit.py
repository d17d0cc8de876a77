"""Which code a measurement was made with."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def measured_commit(checkout: Path = ROOT) -> str:
    """A text such as ``commit 1a0291c0``, with a remark if files differ from it; ``an unknown commit`` outside of a checkout."""
    try:
        name = _git(checkout, "rev-parse", "--short=8", "HEAD")
        changed = _git(checkout, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "an unknown commit"
    return f"commit {name}" + (" with changes that are not committed" if changed else "")


def _git(checkout: Path, *arguments: str) -> str:
    command = ["git", "-C", str(checkout), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
