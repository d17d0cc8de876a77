"""The training environment: the versions that an interpreter reports, and whether it is the interpreter that wrote the log."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kb.errors import TroubleshootError
from troubleshooter.verify.bounded import Heard, hear
from troubleshooter.verify.printable import printable

__all__ = ["INSIDE", "Environment", "EnvironmentProblem", "ask", "interpreter_of", "same_environment"]

PACKAGES: Final = (
    *("torch", "transformers", "accelerate", "peft", "trl", "datasets", "tokenizers", "bitsandbytes", "unsloth"),
    *("unsloth_zoo", "deepspeed", "flash-attn", "triton", "xformers", "numpy", "safetensors", "vllm", "lightning"),
    *("llamafactory", "axolotl", "huggingface-hub"),
)
"""Packages whose versions are always asked for, beside those of the entry."""

# Run by the training interpreter: names of metadata folders only, nothing of any package imported. Python 3.8 and newer.
# importlib.metadata gives the same answer but imports many modules; it is asked about legacy installs only.
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
_DROPPED: Final = frozenset(("PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONHOME"))
INSIDE: Final = ("bin/python", "bin/python3", "python.exe", "Scripts/python.exe")
"""The paths of the interpreter within the folder of an environment (venv, conda, uv)."""


class EnvironmentProblem(TroubleshootError):
    """The interpreter of an environment gave no answer; the message says why and what to do."""


@dataclass(frozen=True)
class Environment:
    """An interpreter's answer about itself."""

    python: str
    version: str
    prefix: str
    path: tuple[str, ...]
    user_base: str | None
    gpu_build: bool | None
    versions: Mapping[str, str]
    """Installed packages only."""


def installed() -> dict[str, str]:
    """The versions of the packages that this process can import, and of its Python."""
    import platform
    from importlib import metadata

    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def ask(python: str, packages: Iterable[str] = (), timeout: float = 20.0) -> Environment:
    """The versions that an interpreter sees, from installed metadata: no package is imported.

    ``python``: an interpreter, or the folder of an environment. Raises `EnvironmentProblem`, whatever the program does.
    """
    python = interpreter_of(python)
    named = str(printable(python))
    wanted = list(dict.fromkeys((*PACKAGES, *packages)))
    environ = {name: value for name, value in os.environ.items() if name not in _DROPPED}
    try:
        heard = hear([python, "-c", _QUESTION, *wanted], timeout, environ)
    except (OSError, ValueError) as problem:
        said = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        expected = "give a Python interpreter or the folder of an environment"
        raise EnvironmentProblem(f"{named}: {said}; {expected}") from problem
    if heard.stopped:
        raise EnvironmentProblem(f"{named} {heard.stopped} and was ended; is it a Python interpreter?")
    try:
        return _environment(_last_line(heard), python)
    except (IndexError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        tail = str(printable((heard.err.strip().splitlines() or ["it said nothing that is an answer"])[-1][:300]))
        raise EnvironmentProblem(f"{named} is no working Python 3.8 or newer: {tail}") from problem


def _last_line(heard: Heard) -> Any:
    return printable(json.loads(heard.out.strip().splitlines()[-1]))


def _environment(said: Any, python: str) -> Environment:
    """The answer with checked types. Raises KeyError, TypeError or ValueError for any other form."""
    base, built = said["user_base"], said["gpu_build"]
    if not (base is None or isinstance(base, str)) or not (built is None or isinstance(built, bool)):
        raise TypeError("user_base or gpu_build")
    return Environment(
        python=str(said["executable"] or python),
        version=str(said["version"]),
        prefix=str(said["prefix"]),
        path=tuple(map(str, said["path"])),
        user_base=base,
        gpu_build=built,
        versions={str(name): str(version) for name, version in said["versions"].items() if version},
    )


def interpreter_of(named: str) -> str:
    """The interpreter that a user named by its path or by the folder of its environment."""
    path = Path(named).expanduser()
    try:
        if path.is_dir():
            for inside in INSIDE:
                if (path / inside).exists():
                    return str(path / inside)
            text = "is a folder without bin/python; give the training environment's folder or its interpreter"
            raise EnvironmentProblem(f"{printable(named)} {text}")
        return str(path) if path.exists() else named
    except (OSError, ValueError) as problem:  # a name that is too long, or holds a zero byte
        raise EnvironmentProblem(f"{printable(named)[:200]}: {problem}; give a Python interpreter") from problem


def same_environment(
    environment: Environment, folders: Iterable[str], versions: Mapping[str, str] | None = None
) -> bool | None:
    """Whether this environment wrote the log; ``None`` if the log does not say."""
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
