"""For which platforms and Pythons the compiled dependencies have wheels: ``python tools/wheels.py`` prints the table as Markdown.

It asks the configured package index through pip, resolving without installing anything; about thirty requests.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

COMPILED = ("google-re2", "hyperscan", "pydantic-core", "pyyaml", "rapidfuzz", "stringzilla", "zstandard")
"""The dependencies that are compiled; pydantic-core and its version come with pydantic."""
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "Linux x86-64": ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_27_x86_64"),
    "Linux arm64": (
        "manylinux_2_28_aarch64",
        "manylinux_2_17_aarch64",
        "manylinux2014_aarch64",
        "manylinux_2_27_aarch64",
    ),
    "macOS 14 arm64": tuple(
        f"macosx_{version}_0_{kind}" for version in (14, 13, 12, 11) for kind in ("arm64", "universal2")
    ),
    "macOS 13 arm64": tuple(
        f"macosx_{version}_0_{kind}" for version in (13, 12, 11) for kind in ("arm64", "universal2")
    ),
    "Windows x86-64": ("win_amd64",),
}


def wanted(package: str) -> str:
    """The package with the versions that pyproject.toml asks for."""
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(rf'^ +"({re.escape(package)}[^";]*)', text, re.MULTILINE)
    return found[1] if found else package


def there(packages: tuple[str, ...], platforms: tuple[str, ...], python: str) -> bool:
    """Whether all packages have a wheel for one of the platform's tags and this Python."""
    with tempfile.TemporaryDirectory() as target:
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--no-deps", "--only-binary=:all:"]
        command += ["--python-version", python, "--implementation", "cp", "--target", target]
        command += [part for platform in platforms for part in ("--platform", platform)]
        return subprocess.run([*command, *map(wanted, packages)], capture_output=True, check=False).returncode == 0


def missing(platforms: tuple[str, ...], python: str) -> list[str]:
    """The packages without such a wheel."""
    if there(COMPILED, platforms, python):
        return []
    return [package for package in COMPILED if not there((package,), platforms, python)]


def main() -> None:
    """Print one row a platform."""
    print("| | " + " | ".join(PYTHONS) + " |\n| --- |" + " --- |" * len(PYTHONS))
    for name, platforms in PLATFORMS.items():
        cells = [", ".join(missing(platforms, python)) or "all" for python in PYTHONS]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
