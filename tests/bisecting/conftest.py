"""A package index of made-up packages: a folder of small wheels, which pip reads instead of a real index."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

PROBLEM = 'raise ValueError("the widget is square")'
OTHER = 'raise KeyError("nothing to do with it")'


def wheel(folder: Path, name: str, version: str, code: str = "", requires: tuple[str, ...] = (), tag: str = "py3-none-any") -> None:
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    with zipfile.ZipFile(folder / f"{name}-{version}-{tag}.whl", "w") as made:
        made.writestr(f"{name}/__init__.py", f'__version__ = "{version}"\n{code}\n')
        made.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        made.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n")
        made.writestr(f"{info}/RECORD", "")


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip takes all packages from; the tests fill it."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder
