"""Environments for version pairs: one virtual environment with torch, and a folder for each other package and version.

A pair is then nothing but a PYTHONPATH, so forty pairs cost forty small folders instead of forty copies of torch.
Everything comes from the package index by name and version.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from kb.errors import TroubleshootError

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

if TYPE_CHECKING:
    from packaging.requirements import Requirement

__all__ = [
    "BASE",
    "NAMED",
    "IndexProblem",
    "Overlays",
    "Unbuildable",
    "canonical",
    "default_folder",
    "index_lost",
    "met",
    "ordered",
    "requirements",
]

TORCH: Final = "2.13.0"
BASE: Final = (
    *(f"torch=={TORCH}", "numpy<2.3", "regex", "safetensors", "filelock", "pyyaml", "requests", "tqdm", "packaging"),
    *("httpx", "typer-slim", "shellingham", "hf-xet", "psutil", "pandas", "pyarrow", "dill", "multiprocess", "xxhash"),
    *("fsspec", "aiohttp", "pydantic", "protobuf", "rich", "jinja2"),
)
"""The packages of the base environment, which every overlay has; torch is the build for CPUs."""

NAMED: Final = (
    "torch",
    "transformers",
    "accelerate",
    "peft",
    "trl",
    "datasets",
    "bitsandbytes",
    "unsloth",
    "deepspeed",
)
"""Packages whose versions a pair states itself. They are never installed as dependencies."""

MOST_ORDERED: Final = 5
"""All orders of so many overlays are compared at most."""


class Unbuildable(TroubleshootError):
    """An environment cannot be made; the message says which step failed and what pip said."""


class IndexProblem(Unbuildable):
    """The package index does not answer; the message says what was asked and what to do. No release is at fault."""


_NO_INDEX: Final = re.compile(
    r"connection broken by|Max retries exceeded|Failed to establish a new connection|Temporary failure in name resolution"
    r"|Read timed out|ProxyError|CERTIFICATE_VERIFY_FAILED"  # pip
    r"|error sending request|client error \(Connect\)|dns error",  # uv
    re.IGNORECASE,
)


def index_lost(said: str) -> bool:
    """Whether an installer's words say that the package index could not be reached."""
    return _NO_INDEX.search(said) is not None


def default_folder() -> Path:
    """The folder of the environments: ``TROUBLESHOOT_ENVS``, else one in the user's cache."""
    from kb.cache import cache_folder

    named = os.environ.get("TROUBLESHOOT_ENVS")
    return Path(named) if named else cache_folder() / "envs"


@dataclass(frozen=True)
class Overlays:
    """A folder of environments. Missing ones are made when they are needed, unless ``build`` is false."""

    folder: Path
    build: bool = True
    places: Path | None = None
    """A folder for overlays that are soon deleted; the base environment stays in ``folder``. These overlays are not compiled to
    bytecode: that takes longer than it saves in a few runs."""

    @property
    def python(self) -> Path:
        """The interpreter that all pairs share."""
        return self.folder / "base" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    def ready(self, versions: Mapping[str, str]) -> bool:
        """Whether a pair can run without installing anything."""
        return self._complete(self.folder / "base") and all(
            self._complete(self._place(name, version)) for name, version in versions.items() if name != "torch"
        )

    def path(self, versions: Mapping[str, str]) -> str:
        """The PYTHONPATH of a pair. Missing overlays are made first."""
        wanted = versions.get("torch", TORCH)
        if wanted != TORCH:
            raise Unbuildable(f"torch {wanted}: only torch {TORCH} is built here; verify in an environment of your own")
        self.base()
        folders = [self._overlay(name, version) for name, version in versions.items() if name != "torch"]
        return os.pathsep.join(map(str, ordered(folders, _installed(self.folder / "base"))))

    def base(self) -> Path:
        """The interpreter with torch. A missing environment is made first."""
        place = self.folder / "base"
        if not self._complete(place):
            self._may_build("the base environment")
            with self._alone():
                if not self._complete(place):
                    self._run([sys.executable, "-m", "venv", "--clear", str(place)])
                    self._pip("install", *BASE)
                    self._seal(place)
        return self.python

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Inside this block, other processes that want to make environments in this folder wait (not on Windows)."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / ".lock").open("w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _overlay(self, package: str, version: str) -> Path:
        place = self._place(package, version)
        if self._complete(place):
            return place
        self._may_build(f"{package} {version}")
        with self._alone():
            return place if self._complete(place) else self._make(place, package, version)

    def _make(self, place: Path, package: str, version: str) -> Path:
        making = place.with_name(place.name + ".making")
        shutil.rmtree(making, ignore_errors=True)
        kept = ("--no-compile",) if self.places else ()
        self._pip("install", "--no-deps", *kept, "--target", str(making), f"{package}=={version}")
        base = _installed(self.folder / "base")
        seen: set[str] = set()
        # One package may need another newer than the base holds (transformers its own tokenizers, trl datasets).
        while missing := [r for r in requirements(making) if r.name not in seen and not met(r, base, making)]:
            seen.update(requirement.name for requirement in missing)
            wanted = [f"{requirement.name}{requirement.specifier}" for requirement in missing]
            self._pip("install", "--no-deps", *kept, "--upgrade", "--target", str(making), *wanted)
        shutil.rmtree(making / "bin", ignore_errors=True)
        if not self.places:
            self._run([str(self.python), "-m", "compileall", "-q", "-j", "1", str(making)], tolerant=True)
        shutil.rmtree(place, ignore_errors=True)
        making.rename(place)
        self._seal(place)
        return place

    def _place(self, package: str, version: str) -> Path:
        return (self.places or self.folder / "overlays") / f"{package}-{version}"

    def _may_build(self, what: str) -> None:
        if not self.build:
            raise Unbuildable(f"{what} is not in {self.folder}; make it with `python -m troubleshooter.verify.matrix`")

    @staticmethod
    def _complete(place: Path) -> bool:
        return (place / ".complete").exists()

    @staticmethod
    def _seal(place: Path) -> None:
        (place / ".complete").touch()

    def _pip(self, *arguments: str) -> None:
        command = [str(self.python), "-m", "pip", *arguments[:1], "--quiet", "--disable-pip-version-check"]
        self._run([*command, *arguments[1:]])

    def _run(self, command: list[str], tolerant: bool = False) -> None:
        environ = (
            {**os.environ, "TMPDIR": str(self.places)} if self.places else None
        )  # a killed pip leaves folders behind
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=environ
        )
        if done.returncode and not tolerant:
            tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-4:])
            if index_lost(done.stderr):
                raise IndexProblem(f"the package index does not answer; is there a network? pip says: {tail}")
            raise Unbuildable(f"{' '.join(command[1:])}\n{tail}")


def canonical(name: str) -> str:
    """The normalized name of a package, as indexes compare it."""
    from packaging.utils import canonicalize_name

    return canonicalize_name(name)


def _metadata(folder: Path) -> Iterator[Path]:
    return folder.glob("*.dist-info/METADATA")


def _site(folder: Path) -> Path:
    """The site-packages folder of a virtual environment."""
    return next(iter(folder.glob("lib/python*/site-packages")), folder / "Lib" / "site-packages")


def _installed(environment: Path) -> dict[str, str]:
    return _versions(_site(environment))


def _versions(folder: Path) -> dict[str, str]:
    """The packages of a folder and their versions, from the names of their ``NAME-VERSION.dist-info`` folders."""
    named = (path.parent.name.removesuffix(".dist-info").partition("-") for path in _metadata(folder))
    return {canonical(name): version for name, _, version in named}


def requirements(overlay: Path, stated: Collection[str] = NAMED) -> list[Requirement]:
    """The requirements of the packages of an overlay, without the packages that are ``stated``."""
    from packaging.requirements import Requirement

    found = []
    for metadata in _metadata(overlay):
        for line in metadata.read_text("utf-8", "replace").split("\n\n", 1)[0].splitlines():
            if not line.startswith("Requires-Dist:"):
                continue
            requirement = Requirement(line.partition(":")[2].strip())
            named = canonical(requirement.name) in stated
            if not named and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
                found.append(requirement)
    return found


def met(requirement: Requirement, base: Mapping[str, str], overlay: Path) -> bool:
    """Whether an overlay, or the environment below it, satisfies a requirement."""
    name = canonical(requirement.name)
    version = _versions(overlay).get(name) or base.get(name)
    return version is not None and _fits(requirement, version)


def _fits(requirement: Requirement, version: str) -> bool:
    from packaging.version import InvalidVersion

    try:
        return requirement.specifier.contains(version.partition("+")[0], prereleases=True)
    except InvalidVersion:  # older releases of packaging raise
        return False


def ordered(folders: Sequence[Path], base: Mapping[str, str]) -> list[Path]:
    """Overlays in the order in which the fewest requirements are broken; the given order where that breaks none more.

    Two overlays may hold one package in two versions (peft the newest huggingface_hub, an old transformers an old one), and
    Python takes it from the first. More than `MOST_ORDERED` overlays stay as they are.
    """
    if not 1 < len(folders) <= MOST_ORDERED:
        return list(folders)
    held = {folder: _versions(folder) for folder in folders}
    wanted = [(canonical(one.name), one) for folder in folders for one in requirements(folder, ())]

    def broken(order: Iterable[Path]) -> int:
        seen = {**base}
        for folder in list(order)[::-1]:
            seen.update(held[folder])
        return sum(name in seen and not _fits(one, seen[name]) for name, one in wanted)

    return list(min(permutations(folders), key=broken))
