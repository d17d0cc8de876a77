"""Which interpreters are found, and a search over Python versions. The interpreters are scripts that say a version."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.bisecting.test_command import bisected
from troubleshooter.bisect.pythons import interpreters


def interpreter(path: Path, version: str, fails: bool = False) -> Path:
    """A program that runs this Python and calls itself another version; ``fails`` makes it refuse, as pyenv's scripts do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    number = tuple(map(int, version.split(".")))
    begin = (
        "import sys, platform, collections;"
        "V = collections.namedtuple('V', 'major minor micro releaselevel serial');"
        f"sys.version = {version!r} + ' (made up)'; sys.version_info = V(*{number!r}, 'final', 0);"
        f"platform.python_version = lambda: {version!r}"
    )
    site = path.with_name(f"{path.name}-site")
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(begin + "\n")
    run = f'PYTHONPATH="{site}:$PYTHONPATH" exec {sys.executable} "$@"' if not fails else "echo 'command not found' >&2; exit 127"
    path.write_text(f"#!/bin/sh\n{run}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with interpreters: two of pyenv, one of uv, one on PATH; beside them scripts that refuse to run."""
    for name in ("PYENV_ROOT", "XDG_DATA_HOME", "UV_PYTHON_INSTALL_DIR", "VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    interpreter(tmp_path / ".pyenv/versions/3.8.18/bin/python", "3.8.18")
    interpreter(tmp_path / ".pyenv/versions/3.7.16/bin/python", "3.7.16")
    interpreter(tmp_path / ".local/share/uv/python/cpython-3.13.1-linux/bin/python", "3.13.1")
    interpreter(tmp_path / "usr/python3.9", "3.9.2")
    interpreter(tmp_path / ".pyenv/shims/python3.12", "3.12.0", fails=True)
    interpreter(tmp_path / "usr/python3.14", "3.14.0", fails=True)
    monkeypatch.setenv("PATH", f"{tmp_path}/.pyenv/shims:{tmp_path}/usr:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_pythons_of_path_pyenv_and_uv_are_found(at_hand: Path) -> None:
    found = interpreters()
    assert found["3.9.2"] == str(at_hand / "usr/python3.9")
    assert found["3.8.18"] == str(at_hand / ".pyenv/versions/3.8.18/bin/python")
    assert found["3.13.1"] == str(at_hand / ".local/share/uv/python/cpython-3.13.1-linux/bin/python")
    assert "3.7.16" not in found, "it cannot say what is installed for it"
    assert not {"3.12.0", "3.14.0"} & set(found), "a script that refuses to run is no interpreter"


@pytest.mark.slow
def test_which_python_broke_it(at_hand: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repro = at_hand / "repro.py"
    repro.write_text("import sys\nif sys.version_info[:2] >= (3, 13): raise ImportError('no module named imp')\n")
    asked = ["--package", "python", "--python", sys.executable, "--good", "3.9.2", "--bad", "3.13.1", "--lang", "en"]
    status, told = bisected(capsys, *asked, "--format", "json", "--", "python", str(repro))
    assert (status, told["first_bad"]) == (0, "3.13.1")
    assert told["pin"] == told["last_good"] != ""
    _, told = bisected(capsys, *asked, "--", "python", str(repro))
    assert "Use: Python 3." in told
    assert "pip install" not in told


@pytest.mark.slow
def test_one_python_is_nothing_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("PYENV_ROOT", "XDG_DATA_HOME", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.delenv(name, raising=False)
    status, told = bisected(capsys, "--package", "python", "--python", sys.executable, "--", "python", "-c", "pass")
    assert status == 2
    assert "only Python" in told
