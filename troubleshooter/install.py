"""What to run to install a missing part. The package is on no index under its name, so only paths are ever named."""

from __future__ import annotations

import sys
from pathlib import Path

from kb.errors import TroubleshootError

_CHECKOUT = Path(__file__).resolve().parent.parent


class MissingPackage(TroubleshootError):
    """A part of the program needs a package that is not installed: names it and the command that installs it."""


def missing_extra(extra: str, package: str) -> MissingPackage:
    """The error to raise where an optional package cannot be imported: ``extra`` as pyproject.toml calls the group."""
    return MissingPackage(f"{extra} needs the package {package}: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that adds a group of packages to the environment that runs."""
    wanted = requirements(extra)
    if "pipx" in Path(sys.prefix).parts and wanted:
        return f"pipx inject llm-troubleshooter {' '.join(wanted)}"
    if (_CHECKOUT / "pyproject.toml").is_file():
        return f"{_python()} -m pip install '{_CHECKOUT}[{extra}]'"
    if wanted:
        return f"{_python()} -m pip install {' '.join(wanted)}"
    return f"in the checkout: pip install '.[{extra}]'"


def requirements(extra: str) -> list[str]:
    """The packages of a group without version limits, quoted for no shell, as the installed metadata names them."""
    from importlib.metadata import PackageNotFoundError, requires

    from packaging.requirements import Requirement

    try:
        found = [Requirement(text) for text in requires("llm-troubleshooter") or ()]
    except PackageNotFoundError:
        return []
    return [r.name for r in found if r.marker and "extra" in str(r.marker) and r.marker.evaluate({"extra": extra})]


def _python() -> str:
    return sys.executable or "python"
