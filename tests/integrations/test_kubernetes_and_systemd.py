"""The examples for Kubernetes and systemd: they parse, they name options that exist, and the entry point does what it says."""

from __future__ import annotations

import configparser
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.waiting import PATIENCE_SECONDS, wait_for
from troubleshooter.cli.commands import COMMANDS
from troubleshooter.cli.options import read_plain

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "integrations" / "kubernetes"
UNIT = ROOT / "integrations" / "systemd" / "troubleshoot-watch.service"
WATCH = next(command for command in COMMANDS if command.name == "watch")


def containers(path: Path) -> list[dict[str, Any]]:
    found = []
    for document in yaml.safe_load_all(path.read_text()):
        spec = document.get("spec", {}).get("template", {}).get("spec", {})
        mounted = {volume["name"] for volume in spec.get("volumes", ())}
        for container in [*spec.get("initContainers", ()), *spec.get("containers", ())]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= mounted
            found.append(container)
    return found


def test_the_sidecar_watches_where_the_training_writes() -> None:
    sidecar, training = containers(KUBERNETES / "sidecar.yaml")
    assert sidecar["command"] == ["troubleshoot"]
    assert sidecar["restartPolicy"] == "Always"
    assert sidecar["args"][0] == "watch"
    assert read_plain(sidecar["args"][1:], WATCH.options) is not None
    assert sidecar["args"][1] in training["command"][-1]


def test_the_job_uses_the_entry_point() -> None:
    (training,) = containers(KUBERNETES / "job.yaml")
    assert training["command"] == ["troubleshoot-entrypoint"]
    assert training["terminationMessagePath"] == "/dev/termination-log"


def test_the_unit_starts_a_watch() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string("\n".join(line for line in UNIT.read_text().splitlines() if not line.startswith("#")))
    program, command, *words = shlex.split(unit["Service"]["ExecStart"])
    assert (Path(program).name, command) == ("troubleshoot", "watch")
    assert read_plain(words, WATCH.options) is not None


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    program = tmp_path / "troubleshoot"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/usr/local/bin/troubleshoot", str(program)))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert not complaints, done.stderr


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    binaries = tmp_path / "bin"
    binaries.mkdir()
    (binaries / "troubleshoot").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m troubleshooter "$@"\n')
    (binaries / "troubleshoot").chmod(0o755)
    return {
        **os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "TROUBLESHOOT_LOGS": str(tmp_path / "logs"),
        "TERMINATION_LOG": str(tmp_path / "message"), "PYTHONPATH": str(ROOT),
    }  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="a container is Linux")
@pytest.mark.parametrize(("program", "status"), [("print('fine')", 0), ("class Tank: pass\nTank().fill", 1)])
def test_the_entry_point_writes_why(tmp_path: Path, environment: dict[str, str], program: str, status: int) -> None:
    done = subprocess.run(
        [str(KUBERNETES / "troubleshoot-entrypoint"), sys.executable, "-c", program], env=environment, cwd=tmp_path,
        capture_output=True, text=True, timeout=PATIENCE_SECONDS * 2, check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    message = tmp_path / "message"
    if status:
        assert message.read_text().startswith("exit=3 ")
        assert "exception=AttributeError" in message.read_text()
        assert len(message.read_bytes()) <= 512
    else:
        assert not message.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="a container is Linux")
def test_the_entry_point_passes_a_signal_on(tmp_path: Path, environment: dict[str, str]) -> None:
    """As Kubernetes ends a pod."""
    program = "import signal, sys\nsignal.signal(15, lambda *a: sys.exit(7))\nopen('ready', 'w').close()\nwhile True: signal.pause()"
    with subprocess.Popen(
        [str(KUBERNETES / "troubleshoot-entrypoint"), sys.executable, "-c", program], env=environment, cwd=tmp_path,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        wait_for((tmp_path / "ready").exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_SECONDS * 2) == 7
