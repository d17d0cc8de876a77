"""The Python interpreters at hand: those on PATH (the system's among them), of pyenv, and of uv."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

__all__ = ["PYTHON", "interpreters"]

PYTHON: Final = "python"
"""The name under which the interpreter itself is tried as if it were a package."""
_OLDEST: Final = (3, 8)
"""Older ones cannot say what is installed for them."""
_PROGRAM: Final = re.compile(r"python3\.\d{1,2}(?:\.exe)?")


def interpreters(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The path of an interpreter (3.8 or newer) by its version; of several with one version the first on PATH counts.

    Names of interpreters say little (pyenv's are scripts that may refuse to run), so each one is asked for its version.
    """
    from troubleshooter.verify.environment import EnvironmentProblem, ask

    found: dict[str, str] = {}
    asked: set[str] = set()
    for path in [*_candidates(os.environ if environ is None else environ), Path(sys.executable)]:
        real = os.path.realpath(path)
        if real in asked or not os.access(path, os.X_OK):
            continue
        asked.add(real)
        try:
            version = ask(str(path)).version
        except EnvironmentProblem:
            continue
        if tuple(map(int, version.split(".")[:2])) >= _OLDEST:
            found.setdefault(version, str(path))
    return found


def _candidates(environ: Mapping[str, str]) -> Iterator[Path]:
    for part in environ.get("PATH", os.defpath).split(os.pathsep):
        folder = Path(part)
        if not part or folder.name == "shims":  # pyenv's scripts; the interpreters that they run come below
            continue
        try:
            yield from sorted(path for path in folder.iterdir() if _PROGRAM.fullmatch(path.name))
        except OSError:
            continue
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or ".")
    pyenv = Path(environ.get("PYENV_ROOT") or home / ".pyenv") / "versions"
    data = Path(environ.get("XDG_DATA_HOME") or environ.get("APPDATA") or home / ".local" / "share")
    uv = Path(environ.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    for folder, pattern in ((pyenv, "3.*"), (uv, "cpython-3.*")):
        for place in sorted(folder.glob(pattern)):
            yield from (path for path in (place / "bin" / "python", place / "python.exe") if path.exists())
