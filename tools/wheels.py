"""Find out for which platforms and Pythons the dependencies have wheels: ``python tools/wheels.py`` writes ``docs/platforms.json``.

It asks the configured package index through pip, resolving without installing anything: one question for each platform
and Python, and one more for each package where something is missing. ``python -m docs.make`` then writes the page.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docs" / "platforms.json"
COMPILED_PARTS = ("markupsafe", "pydantic-core")
"""Compiled packages that the dependencies need in turn (jinja2, pydantic)."""
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PLATFORMS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "Linux x86-64": (
        {"sys_platform": "linux", "platform_machine": "x86_64"},
        tuple(f"manylinux{version}_x86_64" for version in ("_2_28", "_2_27", "_2_17", "2014")),
    ),
    "Linux arm64": (
        {"sys_platform": "linux", "platform_machine": "aarch64"},
        tuple(f"manylinux{version}_aarch64" for version in ("_2_28", "_2_27", "_2_17", "2014")),
    ),
    "macOS 14 arm64": (
        {"sys_platform": "darwin", "platform_machine": "arm64"},
        tuple(f"macosx_{version}_0_{kind}" for version in (14, 13, 12, 11) for kind in ("arm64", "universal2")),
    ),
    "macOS 13 arm64": (
        {"sys_platform": "darwin", "platform_machine": "arm64"},
        tuple(f"macosx_{version}_0_{kind}" for version in (13, 12, 11) for kind in ("arm64", "universal2")),
    ),
    "Windows x86-64": ({"sys_platform": "win32", "platform_machine": "AMD64"}, ("win_amd64",)),
}
"""For each platform: the values of environment markers, and the tags of wheels that pip accepts there."""


def dependencies() -> list[Requirement]:
    """The requirements of pyproject.toml, and the compiled packages that they need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(text) for text in (*project["dependencies"], *COMPILED_PARTS)]


def needed(requirement: Requirement, platform: str, python: str) -> bool:
    """Whether the requirement's marker holds there."""
    return requirement.marker is None or requirement.marker.evaluate(
        {**PLATFORMS[platform][0], "python_version": python}
    )


def wheels(requirements: Sequence[Requirement], platform: str, python: str) -> dict[str, str]:
    """By package: the name of the newest wheel that fits; {} if any of the packages has none."""
    with tempfile.TemporaryDirectory() as target:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--report", "-", "--python-version", python, "--implementation", "cp", "--target", target]
        command += [part for tag in PLATFORMS[platform][1] for part in ("--platform", tag)]
        command += [f"{requirement.name}{requirement.specifier}" for requirement in requirements]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return {}
    installed = json.loads(done.stdout)["install"]
    return {canonicalize_name(i["metadata"]["name"]): i["download_info"]["url"].rpartition("/")[2] for i in installed}


def found(platform: str, python: str) -> Iterator[tuple[str, str]]:
    """The packages that are needed there, each with the name of its wheel ("" where it has none)."""
    asked = [requirement for requirement in dependencies() if needed(requirement, platform, python)]
    if together := wheels(asked, platform, python):
        yield from together.items()
        return
    for requirement in asked:
        name = canonicalize_name(requirement.name)
        yield name, wheels([requirement], platform, python).get(name, "")


def main() -> None:
    """Ask for every platform and Python, and write what was found."""
    table: dict[str, dict[str, dict[str, str]]] = {
        canonicalize_name(requirement.name): {platform: {} for platform in PLATFORMS} for requirement in dependencies()
    }
    for platform in PLATFORMS:
        for python in PYTHONS:
            for name, wheel in found(platform, python):
                kind = "none" if not wheel else "pure" if wheel.endswith("-none-any.whl") else "compiled"
                table[name][platform][python] = kind
            print(f"{platform}, Python {python}", flush=True)
    out = {
        "asked": date.today().isoformat(),
        "pythons": PYTHONS,
        "platforms": [*PLATFORMS],
        "wheels": dict(sorted(table.items())),
    }
    FILE.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
