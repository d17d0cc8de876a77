"""The command that installs a missing part. It always names a path, because the package is on no package index yet."""

from __future__ import annotations

import sys
from pathlib import Path

from kb.errors import TroubleshootError

_CHECKOUT = Path(__file__).resolve().parent.parent


class MissingPackage(TroubleshootError):
    """A part of the program needs a package that is not installed. The message names it and the command that installs it."""


def missing_extra(extra: str, package: str) -> MissingPackage:
    """The error for an optional package that cannot be imported. ``extra``: the name of its group in pyproject.toml."""
    return MissingPackage(f"{extra} needs the package {package}: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that adds a group of packages to the running environment."""
    wanted = requirements(extra)
    if "pipx" in Path(sys.prefix).parts and wanted:
        return f"pipx inject llm-troubleshooter {' '.join(wanted)}"
    if (_CHECKOUT / "pyproject.toml").is_file():
        return f"{_python()} -m pip install '{_CHECKOUT}[{extra}]'"
    if wanted:
        return f"{_python()} -m pip install {' '.join(wanted)}"
    return f"in the checkout: pip install '.[{extra}]'"


def requirements(extra: str) -> list[str]:
    """The names of a group's packages, without version limits, from the installed metadata."""
    from importlib.metadata import PackageNotFoundError, requires

    from packaging.requirements import Requirement

    try:
        found = [Requirement(text) for text in requires("llm-troubleshooter") or ()]
    except PackageNotFoundError:
        return []
    return [r.name for r in found if r.marker and "extra" in str(r.marker) and r.marker.evaluate({"extra": extra})]


def _python() -> str:
    return sys.executable or "python"
