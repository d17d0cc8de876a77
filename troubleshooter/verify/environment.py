"""The training environment: which interpreter, which versions, and whether it is the one that wrote the log."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Environment", "EnvironmentProblem", "Found", "ask", "find", "same_environment", "site_folders"]

PACKAGES: Final = (
    *("torch", "transformers", "accelerate", "peft", "trl", "datasets", "tokenizers", "bitsandbytes", "unsloth"),
    *("unsloth_zoo", "deepspeed", "flash-attn", "triton", "xformers", "numpy", "safetensors", "vllm", "lightning"),
    *("llamafactory", "axolotl", "huggingface-hub"),
)
"""Asked for in every run; an entry's own packages are added."""

# Run by the training interpreter: names of metadata folders only, nothing of any package imported. Python 3.8 and newer.
# importlib.metadata, which gives the same answer, costs more than the whole rest; it is asked about legacy installs only.
_QUESTION: Final = """
import sys
sys.path[:] = [p for p in sys.path if p]   # a json.py in the folder that the user stands in is not ours to run
import os, json
wanted, found, legacy, gpu = sys.argv[1:], {}, False, None
plain = lambda name: name.lower().replace("_", "-").replace(".", "-")
for place in sys.path:
    try: names = os.listdir(place)
    except OSError: continue
    for name in names:
        if name.endswith(".dist-info"):
            package, _, version = name[:-10].rpartition("-")
            found.setdefault(plain(package), version)
        elif name.endswith((".egg-info", ".egg-link", ".egg")): legacy = True
    if gpu is None and "torch" in names:
        try: built = os.listdir(os.path.join(place, "torch", "lib"))
        except OSError: continue
        gpu = any(k in n for n in built for k in ("torch_cuda", "torch_hip", "c10_cuda"))
versions = {name: found.get(plain(name)) for name in wanted}
if legacy and None in versions.values():
    from importlib.metadata import version, PackageNotFoundError
    for name in [n for n, v in versions.items() if v is None]:
        try: versions[name] = version(name)
        except PackageNotFoundError: pass
site = sys.modules.get("site")
print(json.dumps(dict(executable=sys.executable, version=sys.version.split()[0], prefix=sys.prefix, path=sys.path,
    user_base=site.getuserbase() if site else None, gpu_build=gpu, versions=versions)))
"""
_SITE: Final = re.compile(r"(?<![\w/:.])((?:/|[A-Za-z]:\\)[^\s:;,'\"<>|*?()]*?(?:site|dist)-packages)(?=[/\\])")


class EnvironmentProblem(Exception):
    """The environment cannot be asked; the message says why and what to do."""


@dataclass(frozen=True)
class Environment:
    """What an interpreter said about itself."""

    python: str
    version: str
    prefix: str
    path: tuple[str, ...]
    user_base: str | None
    gpu_build: bool | None
    versions: Mapping[str, str]
    """Installed packages only."""


@dataclass(frozen=True)
class Found:
    """The environment that is asked, and why this one (a key of ``words``)."""

    environment: Environment
    why: str


def ask(python: str, packages: Iterable[str] = (), timeout: float = 20.0) -> Environment:
    """The versions that an interpreter sees, from installed metadata: no package is imported."""
    wanted = list(dict.fromkeys((*PACKAGES, *packages)))
    try:
        done = subprocess.run(
            [python, "-c", _QUESTION, *wanted],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env={k: v for k, v in os.environ.items() if k not in ("PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONHOME")},
        )
    except OSError as problem:
        raise EnvironmentProblem(f"{python}: {problem.strerror or problem}; give a Python interpreter") from problem
    except subprocess.TimeoutExpired as problem:
        raise EnvironmentProblem(f"{python} did not answer within {timeout:g} s") from problem
    lines = done.stdout.strip().splitlines()
    try:
        said = json.loads(lines[-1])
        return Environment(
            python=str(said["executable"] or python),
            version=str(said["version"]),
            prefix=str(said["prefix"]),
            path=tuple(map(str, said["path"])),
            user_base=said["user_base"],
            gpu_build=said["gpu_build"],
            versions={name: str(version) for name, version in said["versions"].items() if version},
        )
    except (IndexError, ValueError, KeyError, TypeError, AttributeError) as problem:
        tail = (done.stderr.strip().splitlines() or ["it said nothing"])[-1][:300]
        raise EnvironmentProblem(f"{python} is no working Python 3.8 or newer: {tail}") from problem


def site_folders(log: str) -> list[str]:
    """The site-packages folders that a log's frames and warnings name, most frequent first."""
    counts: dict[str, int] = {}
    for found in _SITE.finditer(log):
        counts[found[1]] = counts.get(found[1], 0) + 1
    return sorted(counts, key=lambda folder: -counts[folder])


def find(python: str | None, folders: Iterable[str] = (), packages: Iterable[str] = ()) -> Found:
    """The training environment: the one named, the log's, the active one, or the first on PATH with torch."""
    packages = tuple(packages)
    if python is not None:
        path = _interpreter_of(python)
        return Found(ask(path, packages), "why-named")
    refused = []
    for candidate, why in _candidates(folders):
        try:
            environment = ask(candidate, packages)
        except EnvironmentProblem as problem:
            refused.append(str(problem))
            continue
        if "torch" in environment.versions:
            return Found(environment, why)
        refused.append(f"{candidate} has no torch")
    looked = f" (looked at: {'; '.join(refused[:4])})" if refused else ""
    raise EnvironmentProblem(f"found no Python with torch{looked}; name the training environment with --python PATH")


def _interpreter_of(named: str) -> str:
    """``--python`` takes an interpreter or the folder of an environment."""
    path = Path(named).expanduser()
    if path.is_dir():
        for inside in ("bin/python", "bin/python3", "python.exe", "Scripts/python.exe"):
            if (path / inside).exists():
                return str(path / inside)
        raise EnvironmentProblem(f"{named} is a folder without bin/python; give the training interpreter")
    return str(path) if path.exists() else named


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
            for inside in (f"bin/{name}", "bin/python", "bin/python3", "python.exe", "Scripts/python.exe"):
                yield str(prefix / inside), "why-log"
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        if active := os.environ.get(variable):
            for inside in ("bin/python", "python.exe", "Scripts/python.exe"):
                yield str(Path(active) / inside), "why-active"
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        for name in ("python", "python3", "python.exe"):
            if directory:
                yield str(Path(directory) / name), "why-path"
    yield sys.executable, "why-own"


def _prefixes(folder: Path) -> Iterator[Path]:
    """…/lib/python3.11/site-packages belongs to …; Debian's and user folders belong to the system's interpreter."""
    if folder.parent.parent.name in ("lib", "lib64"):
        yield folder.parent.parent.parent
    elif folder.parent.name.lower() == "lib":  # Windows: …\Lib\site-packages
        yield folder.parent.parent
    yield from (Path("/usr/local"), Path("/usr"))


def same_environment(
    environment: Environment, folders: Iterable[str], versions: Mapping[str, str] | None = None
) -> bool | None:
    """Whether the log was written by this environment; ``None`` when the log does not say."""
    from kb.versions import release

    for name, version in (versions or {}).items():
        installed = environment.versions.get(name)
        try:
            if installed is not None and release(installed) != release(version):
                return False
        except ValueError:
            continue
    named = list(folders)
    if not named:
        return None
    here = {os.path.realpath(entry) for entry in environment.path if entry}
    return any(os.path.realpath(folder) in here for folder in named)
