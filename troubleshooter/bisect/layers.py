"""Throwaway layers on top of an environment: a folder for each package and version, joined in PYTHONPATH.

Nothing is installed into the environment itself. A layer also holds what its package needs and the environment does not
have in a version that fits, so that a trial runs with what it says it runs with.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from troubleshooter.bisect.trials import Versions
from troubleshooter.verify.bounded import hear
from troubleshooter.verify.overlays import IndexProblem, Unbuildable, canonical, index_lost, met, ordered, requirements

__all__ = ["INSTALL_SECONDS", "Layers", "installed", "releases"]

INSTALL_SECONDS: Final = 900.0
LIST_SECONDS: Final = 120.0
_INSTALLED: Final = """
import json, importlib.metadata as m
print(json.dumps({d.metadata["Name"]: d.version for d in reversed(list(m.distributions())) if d.metadata["Name"]}))
"""


def installed(python: str, path: str = "") -> dict[str, str]:
    """The packages that an interpreter sees, by canonical name; ``path`` is a PYTHONPATH. Raises Unbuildable."""
    environ = {**os.environ, "PYTHONPATH": path} if path else dict(os.environ)
    try:
        heard = hear([python, "-c", _INSTALLED], LIST_SECONDS, environ)
        return {
            canonical(name): str(version) for name, version in json.loads(heard.out.strip().splitlines()[-1]).items()
        }
    except (OSError, ValueError, IndexError) as problem:
        raise Unbuildable(
            f"{python} does not say what is installed; is it a Python interpreter? ({problem})"
        ) from problem


def releases(package: str, python: str) -> list[str]:
    """The releases of a package that the user's package index offers to this interpreter, oldest first; no pre-releases.

    Raises IndexProblem where it offers none or does not answer.
    """
    from packaging.version import InvalidVersion, Version

    heard = hear([*_pip(python), "index", "versions", package], LIST_SECONDS, os.environ)
    listed = next((line for line in heard.out.splitlines() if line.startswith("Available versions:")), "")
    if not listed:
        said = (heard.err.strip().splitlines() or [heard.stopped or "it said nothing"])[-1]
        if "No matching distribution" in heard.err and not index_lost(heard.err):
            raise IndexProblem(
                f"no release of {package!r} is offered for {python}; is the name right? pip says: {said}"
            )
        raise IndexProblem(f"the package index does not list {package!r}; is there a network? pip says: {said}")
    found = []
    for text in listed.partition(":")[2].split(","):
        try:
            found.append(Version(text.strip()))
        except InvalidVersion:
            continue
    return [str(version) for version in sorted(found)]


class Layers:
    """Makes layers below ``folder`` for one interpreter, on demand."""

    def __init__(self, python: str, folder: Path, stated: Collection[str], complete: bool = True) -> None:
        """``stated`` are the packages that trials name: never pulled in as somebody's dependency. With ``complete``
        false nothing else is pulled in at all (a lock file names everything)."""
        self.python = python
        self.base = installed(python)
        self._folder = folder
        self._stated = frozenset(map(canonical, stated))
        self._complete = complete
        self._failed: dict[Path, str] = {}

    def path(self, versions: Versions) -> list[Path]:
        """The folders of these versions, made where they are missing; a version that is installed needs none.

        Raises Unbuildable, with what pip said.
        """
        folders = [
            self._layer(name, version)
            for name, version in versions.items()
            if self.base.get(canonical(name)) != version
        ]
        return ordered(folders, self.base) if self._complete else folders

    def environ(self, versions: Versions, given: Mapping[str, str]) -> dict[str, str]:
        """The variables under which a command sees these versions, its programs included."""
        folders = [str(folder) for folder in self.path(versions)]
        before = [part for part in given.get("PYTHONPATH", "").split(os.pathsep) if part]
        programs = [*(os.path.join(folder, "bin") for folder in folders), os.path.dirname(self.python)]
        return {
            **given,
            "PYTHONPATH": os.pathsep.join([*folders, *before]),
            "PATH": os.pathsep.join([*programs, given.get("PATH", os.defpath)]),
            "PYTHONNOUSERSITE": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def held(self, versions: Versions) -> dict[str, str]:
        """What the interpreter really sees of these packages. Raises Unbuildable where that differs."""
        seen = installed(self.python, os.pathsep.join(str(folder) for folder in self.path(versions)))
        held = {name: seen.get(canonical(name), "none") for name in versions}
        for name, version in versions.items():
            if held[name] != version and not _equal(held[name], version):
                raise Unbuildable(f"asked for {name} {version}, the environment shows {held[name]}")
        return held

    def _layer(self, package: str, version: str) -> Path:
        place = self._folder / f"{canonical(package)}-{version}"
        if place in self._failed:
            raise Unbuildable(self._failed[place])
        if not place.exists():
            making = place.with_name(place.name + ".making")
            shutil.rmtree(making, ignore_errors=True)
            try:
                self._make(making, package, version)
            except Unbuildable as problem:
                shutil.rmtree(making, ignore_errors=True)
                self._failed[place] = str(problem)
                raise
            making.rename(place)
        return place

    def _make(self, making: Path, package: str, version: str) -> None:
        self._install(making, [f"{package}=={version}"])
        seen = set(self._stated)
        while self._complete:
            missing = [r for r in requirements(making, self._stated) if canonical(r.name) not in seen]
            missing = [r for r in missing if not met(r, self.base, making)]
            if not missing:
                return
            seen.update(canonical(requirement.name) for requirement in missing)
            self._install(making, [f"{requirement.name}{requirement.specifier}" for requirement in missing])

    def _install(self, target: Path, wanted: Sequence[str]) -> None:
        if uv := shutil.which("uv"):
            command = [uv, "pip", "install", "--quiet", "--python", self.python, "--no-deps", "--target", str(target)]
        else:
            options = [
                "--quiet",
                "--disable-pip-version-check",
                "--no-input",
                "--no-deps",
                "--no-compile",
                "--prefer-binary",
            ]
            command = [*_pip(self.python), "install", *options, "--upgrade", "--target", str(target)]
        # A pip that is killed leaves its folders: they belong into the one that is removed at the end.
        heard = hear([*command, *wanted], INSTALL_SECONDS, {**os.environ, "TMPDIR": str(self._folder)})
        if not target.exists() or heard.stopped or "ERROR" in heard.err or "error:" in heard.err:
            if index_lost(heard.err):
                raise IndexProblem(
                    f"the package index does not answer for {' '.join(wanted)}; is there a network? "
                    "What was tried is kept: the same command goes on from there"
                )
            said = [line for line in (heard.err or heard.out).strip().splitlines() if line.strip()]
            errors = [line for line in said if "ERROR" in line or "error:" in line] or said[-2:]
            raise Unbuildable(f"{' '.join(wanted)} cannot be installed: {heard.stopped or ' '.join(errors[-2:])[:400]}")


@cache
def _pip(python: str) -> list[str]:
    """pip for this interpreter: its own, else ours pointed at it."""
    heard = hear([python, "-m", "pip", "--version"], LIST_SECONDS, os.environ)
    return [python, "-m", "pip"] if heard.out.startswith("pip ") else [sys.executable, "-m", "pip", "--python", python]


def _equal(one: str, other: str) -> bool:
    from packaging.version import InvalidVersion, Version

    try:
        return Version(one) == Version(other)
    except InvalidVersion:
        return False
