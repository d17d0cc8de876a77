"""A measurement names the code that it was made with."""

from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.commit import measured_commit


def git(folder: Path, *arguments: str) -> str:
    as_somebody = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    return subprocess.run(["git", "-C", folder, *as_somebody, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def test_the_commit_and_changes_since_are_named(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "code.py").write_text("1\n")
    git(tmp_path, "add", "code.py")
    git(tmp_path, "commit", "-qm", "first")
    assert measured_commit(tmp_path) == f"commit {git(tmp_path, 'rev-parse', '--short=8', 'HEAD')}"
    (tmp_path / "report.md").write_text("made by the measurement\n")
    assert "changes" not in measured_commit(tmp_path)
    (tmp_path / "code.py").write_text("2\n")
    assert measured_commit(tmp_path).endswith("with changes that are not committed")


def test_outside_of_a_checkout_no_commit_is_named(tmp_path: Path) -> None:
    assert measured_commit(tmp_path) == "an unknown commit"
