"""Downloads one release with pip and reads its surface; the surface is cached, the archive is not kept."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import TypeAdapter

from kb.tables.parse import read_module
from kb.tables.plan import Plan
from kb.tables.surface import FORM, Surface

CONFIG_MAPPING_FILES = ("auto/auto_mappings.py", "auto/configuration_auto.py")
SURFACE = TypeAdapter(Surface)
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


class DownloadError(RuntimeError):
    """pip could not bring a release."""


def available_versions(package: str) -> list[str]:
    """Every release that pip's index offers."""
    done = subprocess.run([*PIP, "index", "versions", package], capture_output=True, text=True, check=False)
    match = re.search(r"^Available versions: (.*)$", done.stdout, re.MULTILINE)
    if not match:
        raise DownloadError(
            f"{package}: `pip index versions` listed nothing; is the network there? {done.stderr[-300:]}"
        )
    return [version.strip() for version in match[1].split(",")]


def surface_of_release(plan: Plan, version: str, cache: Path) -> Surface:
    """The surface of one release, from the cache or from a fresh download."""
    kept = cache / f"form{FORM}" / plan.package / f"{version}.json"
    if kept.exists():
        return expand_lazy_folders(SURFACE.validate_json(kept.read_bytes()))
    with tempfile.TemporaryDirectory() as folder:
        surface = read_archive(archive(plan, version, Path(folder)), plan, version)
    keep(kept, SURFACE.dump_json(surface, exclude_defaults=True))
    return expand_lazy_folders(surface)


def keep(path: Path, data: bytes) -> None:
    """Write a file of the cache, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_suffix(".part")
    waiting.write_bytes(data)
    waiting.replace(path)


def expand_lazy_folders(surface: Surface) -> Surface:
    """Add the names that `define_import_structure` adds at run time: a lazy package offers the `__all__` of its files."""
    root = surface.package
    lazy = [name for name, module in surface.modules.items() if "define_import_structure" in module.names]
    for name in lazy:
        module = surface.modules[name]
        if not module.path.endswith("__init__.py"):
            continue
        folder = f"{root}.models" if name == root else name
        depth = folder.count(".") + 1
        for child in surface.modules:
            if child.startswith(folder + ".") and child.count(".") == depth and child not in module.stars:
                found = surface.modules[child]
                if found.exported is not None or found.path.endswith("__init__.py"):
                    module.stars.append(child)
    return surface


def archive(plan: Plan, version: str, folder: Path) -> Path:
    """Download a release with pip into the folder. Raises `DownloadError`."""
    asked = [f"{plan.package}=={version}"]
    wheel = ["--only-binary", ":all:", "--ignore-requires-python"]
    pure = ["--platform", "any", "--platform", "manylinux2014_x86_64", "--platform", "manylinux_2_24_x86_64"]
    attempts = [[*wheel, *pure, "--python-version", python, "--implementation", "cp"] for python in ("3.10", "3.12")]
    attempts.append([*wheel, *pure, "--python-version", "3.10", "--abi", "abi3"])
    if plan.sdist:
        # Only the archive is wanted: setup.py must not try to build extensions while pip reads the metadata.
        attempts = [["--no-binary", ":all:", "--no-build-isolation"], ["--no-binary", ":all:"]]
    last = ""
    for flags in attempts:
        done = subprocess.run(
            [*PIP, "download", "-q", "--no-deps", "--no-cache-dir", "-d", str(folder), *flags, *asked],
            capture_output=True, text=True, check=False, env=_environment(),
        )  # fmt: skip
        found = sorted(path for path in folder.iterdir() if path.suffix in (".whl", ".gz", ".zip"))
        if found:
            return found[0]
        last = done.stderr.strip()[-300:]
    raise DownloadError(f"{plan.package} {version}: pip download brought nothing: {last}")


def _environment() -> dict[str, str]:
    return {**os.environ, "DS_BUILD_OPS": "0", "DS_ACCELERATOR": "cpu", "PIP_NO_INPUT": "1"}


def modules_of(archive: Path, plan: Plan) -> Iterator[tuple[str, str, str]]:
    """Each module of the package in a wheel or sdist: its dotted name, its path and its source."""
    for path, source in _members(archive):
        if path.split("/")[0] == plan.module and path.endswith(".py"):
            yield path[: -len(".py")].replace("/", ".").removesuffix(".__init__"), path, source


def read_archive(archive: Path, plan: Plan, version: str) -> Surface:
    """Parses every module of a wheel or sdist that the plan wants."""
    surface = Surface(plan.package, version)
    for path, source in _members(archive):
        if path.endswith(("METADATA", "PKG-INFO")) and not surface.requires:
            surface.requires = sorted(re.findall(r"^Requires-Dist: (.*)$", source, re.MULTILINE))
            continue
        if path.split("/")[0] != plan.module or not path.endswith(".py"):
            continue
        module = path[: -len(".py")].replace("/", ".").removesuffix(".__init__")
        depth = plan.depth(module)
        if depth == "skip":
            continue
        shallow = depth == "shallow" and not path.endswith("__init__.py")
        surface.modules[module] = read_module(source, module, path, plan.module, shallow=shallow)
        if plan.package == "transformers" and path.endswith(CONFIG_MAPPING_FILES):
            surface.model_types.update(config_mapping(source))
    for found in list(surface.modules.values()):
        for old, new in found.aliases.items():
            if new in surface.modules:
                surface.modules.setdefault(old, surface.modules[new])
    return surface


def config_mapping(source: str) -> dict[str, str]:
    """The pairs (model type, configuration class) of CONFIG_MAPPING_NAMES."""
    pairs: dict[str, str] = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign) or not any(
            isinstance(target, ast.Name) and target.id == "CONFIG_MAPPING_NAMES" for target in node.targets
        ):
            continue
        for item in ast.walk(node.value):
            if isinstance(item, ast.Tuple) and len(item.elts) == 2:
                key, value = item.elts
                if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                    pairs[str(key.value)] = str(value.value)
    return pairs


def _members(archive: Path) -> Iterator[tuple[str, str]]:
    wanted = re.compile(r"\.py$|(?:^|/)(?:METADATA|PKG-INFO)$")
    if archive.suffix == ".whl" or archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as wheel:
            for name in sorted(wheel.namelist()):
                if wanted.search(name):
                    yield name, wheel.read(name).decode("utf-8", "replace")
        return
    with tarfile.open(archive) as sdist:
        for member in sorted(sdist.getmembers(), key=lambda item: item.name):
            if member.isfile() and wanted.search(member.name):
                stream = sdist.extractfile(member)
                if stream is not None:
                    inner = member.name.split("/", 1)[-1].removeprefix("src/")
                    yield inner, stream.read().decode("utf-8", "replace")
