"""Ray is imported only by ``--on``, and its absence is told with the command that installs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.scan.conftest import scan


def test_ray_is_imported_only_where_it_is_asked_for(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (logs.parent / "ray.py").write_text("raise ImportError('not here')\n")
    monkeypatch.setenv("PYTHONPATH", f"{logs.parent}{os.pathsep}{os.environ.get('PYTHONPATH', os.getcwd())}")
    asked = scan("logs", "--on", "ray", cwd=logs.parent)
    assert asked.returncode == 2
    assert asked.stderr.startswith("troubleshoot: ray needs the package ray: ")
    assert "[ray]" in asked.stderr
    (logs.parent / "ray.py").write_text("raise SystemExit('imported')\n")
    assert scan("logs", cwd=logs.parent).returncode == 1
