"""Finding the training environment, and saying whether it is the log's."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from troubleshooter.verify import environment as env
from troubleshooter.verify.environment import EnvironmentProblem, ask, find, same_environment, site_folders

from .helpers import environment

FRAMES = """
  File "/opt/train/lib/python3.11/site-packages/transformers/trainer.py", line 2245, in train
  File "/opt/train/lib/python3.11/site-packages/accelerate/utils/operations.py", line 818, in forward
  File "C:\\Users\\me\\env\\Lib\\site-packages\\torch\\nn\\modules\\module.py", line 1
  File "/usr/local/lib/python3.10/dist-packages/torch/utils.py", line 3
see https://example.org/site-packages/ and site-packages/nothing
"""


def test_site_folders_of_a_log() -> None:
    assert site_folders(FRAMES) == [
        "/opt/train/lib/python3.11/site-packages",
        "C:\\Users\\me\\env\\Lib\\site-packages",
        "/usr/local/lib/python3.10/dist-packages",
    ]


def test_an_interpreter_is_asked_from_metadata_only() -> None:
    started = time.monotonic()
    found = ask(sys.executable, ["pytest"])
    assert time.monotonic() - started < 2
    assert found.versions["pytest"]
    assert found.version.startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert os.path.realpath(found.prefix) == os.path.realpath(sys.prefix)


def test_modules_in_the_working_folder_are_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("json.py", "importlib.py", "os.py", "email.py", "sitecustomize.py"):
        (tmp_path / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()")
    monkeypatch.chdir(tmp_path)
    assert ask(sys.executable).version
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("broken", ["/nonexistent/python", "/bin/echo", "/bin/false", "/etc/passwd"])
def test_what_is_no_interpreter_is_said_in_one_sentence(broken: str) -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        ask(broken)
    assert broken in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_names_its_interpreter() -> None:
    assert find(sys.prefix).environment.python.startswith(os.path.realpath(sys.prefix)[:4])
    with pytest.raises(EnvironmentProblem, match="bin/python"):
        find("/etc")


def fake_environment(root: Path, *packages: str) -> Path:
    """An environment whose interpreter sees these packages: this interpreter with a site-packages of its own."""
    site = root / "lib" / "python3.11" / "site-packages"
    for package in packages:
        name, _, version = package.partition("==")
        (site / f"{name}-{version}.dist-info").mkdir(parents=True)
        (site / f"{name}-{version}.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
    site.mkdir(parents=True, exist_ok=True)
    (root / "bin").mkdir()
    python = root / "bin" / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return site


def test_the_logs_environment_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log_site = fake_environment(tmp_path / "log", "torch==2.4.0")
    fake_environment(tmp_path / "active", "torch==2.5.0")
    fake_environment(tmp_path / "without")
    fake_environment(tmp_path / "path", "torch==2.6.0")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'without' / 'bin'}:{tmp_path / 'path' / 'bin'}")
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    found = find(None, [str(log_site)])
    assert (found.environment.versions["torch"], found.why) == ("2.4.0", "why-log")
    assert same_environment(found.environment, [str(log_site)]) is True
    found = find(None, ["/nowhere/lib/python3.11/site-packages"])
    assert (found.environment.versions["torch"], found.why) == ("2.5.0", "why-active")
    assert same_environment(found.environment, ["/nowhere/lib/python3.11/site-packages"]) is False
    monkeypatch.delenv("VIRTUAL_ENV")
    found = find(None)
    assert (found.environment.versions["torch"], found.why) == ("2.6.0", "why-path")


def test_no_torch_anywhere_is_said_with_the_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_environment(tmp_path / "without")
    monkeypatch.setenv("PATH", str(tmp_path / "without" / "bin"))
    monkeypatch.setattr(env.sys, "executable", str(tmp_path / "without" / "bin" / "python"))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EnvironmentProblem, match="--python"):
        find(None)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({}, None),
        ({"torch": "2.13.0"}, None),
        ({"torch": "2.12.0"}, False),
        ({"torch": "main"}, None),
        ({"peft": "1"}, None),
    ],
)
def test_other_versions_mean_another_environment(stated: dict[str, str], expected: bool | None) -> None:
    assert same_environment(environment(torch="2.13.0+cpu"), [], stated) is expected
