"""The README is run, not only read: its commands are the ones that CI uses, its capture is what the tool prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_the_capture_is_what_the_tool_prints(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    found = re.search(r"```text\n\$ troubleshoot (?P<arguments>[^\n]+)\n(?P<capture>.*?)```", text, re.DOTALL)
    assert found is not None
    command = [sys.executable, "-m", "troubleshooter", *found["arguments"].split()]
    env = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    env.pop("TROUBLESHOOT_LANG", None)
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env, check=False)
    printed = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
    shown = [line.rstrip() for line in found["capture"].rstrip().splitlines()]
    kept = [line for line in shown if line != "…"]
    assert "…" in shown or len(shown) == len(printed)
    at = 0
    for line in kept:
        assert line in printed[at:], f"{name}: not printed (any more): {line!r}"
        at = printed.index(line, at) + 1


def test_ci_runs_the_readmes_own_test_command() -> None:
    command = 'python3 -m venv .venv && .venv/bin/pip install -q -e ".[test]" && .venv/bin/pytest'
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / "README.zh.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_command_is_in_the_readme() -> None:
    from troubleshooter.cli.commands import COMMANDS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        if command.name != "diagnose":
            assert re.search(rf"\b{command.name}\b", text), command.name
