"""Choose the interpreter: the one that the user names, the log's, the active one, or the first on PATH with torch.

A log is a stranger's text: it never chooses what is run. An interpreter that only a log names is run if it and the packages
beside it are the user's own (`kb.trusted`), or if the user says so when asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kb.trusted import is_own_file
from troubleshooter.verify.environment import INSIDE, Environment, EnvironmentProblem, ask, interpreter_of
from troubleshooter.verify.printable import printable

__all__ = ["ChosenEnvironment", "find"]

Consent = Callable[[str], bool]
"""Asks the user whether the interpreter of this path, which a log names, may be run."""

_SYSTEM: Final = (Path("/usr/local"), Path("/usr"))


@dataclass(frozen=True)
class ChosenEnvironment:
    """The chosen environment, the reason (a phrase of ``words``), and the interpreters that the log names but that were not run."""

    environment: Environment
    why: str
    refused: tuple[str, ...] = ()


def find(
    python: str | None,
    folders: Iterable[str] = (),
    packages: Iterable[str] = (),
    consent: Consent | None = None,
) -> ChosenEnvironment:
    """The training environment. ``folders`` are the site-packages that a log names, ``packages`` what is to be looked up.

    Raises `EnvironmentProblem` when none can be asked, or none has torch.
    """
    packages = tuple(packages)
    if python is not None:
        return ChosenEnvironment(ask(interpreter_of(python), packages), "why-named")
    untrusted: list[str] = []
    others: list[str] = []
    chosen = {Path(candidate).parent for candidate, why in _all_candidates(()) if why != "why-log"}
    for candidate, why in _candidates(folders):
        named_by_user = why != "why-log" or Path(candidate).parent in chosen
        if not named_by_user and not _may_run(candidate, consent, untrusted):
            continue
        try:
            environment = ask(candidate, packages)
        except EnvironmentProblem as problem:
            others.append(str(problem))
            continue
        if "torch" in environment.versions:
            return ChosenEnvironment(environment, why, tuple(untrusted))
        others.append(f"{printable(candidate)} has no torch")
    looked = f" (looked at: {'; '.join(others[:4])})" if others else ""
    not_run = f"; the log names {untrusted[0]}, which others may change, so it was not run" if untrusted else ""
    raise EnvironmentProblem(
        f"found no Python with torch{looked}{not_run}; name the training environment with --python PATH"
    )


def _may_run(python: str, consent: Consent | None, untrusted: list[str]) -> bool:
    """Whether an interpreter that a log names may be run. The user is asked only once about an environment."""
    if is_own_file(python) and all(is_own_file(folder) for folder in _beside(python)):
        return True
    named = str(printable(python))
    if untrusted or consent is None or not consent(named):
        untrusted.append(named)
        return False
    return True


def _beside(python: str) -> Iterator[str]:
    """The files that an interpreter reads before it runs any code: the environment's settings and packages."""
    prefix = Path(python).parent.parent
    if prefix in _SYSTEM:
        return
    if (prefix / "pyvenv.cfg").exists():
        yield str(prefix / "pyvenv.cfg")
    for library in ("lib", "lib64"):
        for site in (prefix / library).glob("python*/site-packages"):
            yield str(site)


def _candidates(folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for candidate, why in _all_candidates(folders):
        if candidate not in seen and os.access(candidate, os.X_OK):
            seen.add(candidate)
            yield candidate, why


def _all_candidates(folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    for folder in folders:
        if not os.path.isdir(folder):
            continue
        for prefix in _prefixes(Path(folder)):
            name = Path(folder).parent.name  # python3.11
            for inside in (f"bin/{name}", *INSIDE):
                yield str(prefix / inside), "why-log"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if active := os.environ.get(variable):
            for inside in INSIDE:
                yield str(Path(active) / inside), "why-active"
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        for name in ("python", "python3", "python.exe"):
            if directory:
                yield str(Path(directory) / name), "why-path"
    yield sys.executable, "why-own"


def _prefixes(folder: Path) -> Iterator[Path]:
    """The environment of a site-packages folder (``ENV/lib/python3.11/site-packages``). Debian's and users' folders belong to the
    system's interpreter."""
    if folder.parent.parent.name in ("lib", "lib64"):
        yield folder.parent.parent.parent
    elif folder.parent.name.lower() == "lib":  # Windows: …\Lib\site-packages
        yield folder.parent.parent
    yield from _SYSTEM
