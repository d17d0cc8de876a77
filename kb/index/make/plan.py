"""Which releases of which packages the index covers (``plan.yaml``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

import yaml
from packaging.version import InvalidVersion, Version
from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from kb.errors import UsageError

PLAN = Path(__file__).with_name("plan.yaml")
MANY_RELEASES = 60
"""Of a package with more releases than this, each minor release is read by its first and last patch alone."""


@dataclass(config=ConfigDict(extra="forbid"), frozen=True)
class Package:
    """One package of the plan."""

    package: str
    first: str
    module: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    quiet: bool = False
    """Whether progress (prints, and logs below a warning) is left out."""
    brief: bool = False
    """Whether neither parameters nor bindings are kept."""
    part_of: str = ""
    """Of a compiled part: the package that people know."""
    libraries: Literal["", "wheels", "folder"] = ""
    repository: str = ""
    commits: Mapping[str, str] = Field(default_factory=dict)
    """Of a compiled part whose repository has no tags here: release to ``owner/name@commit``."""
    under: tuple[str, ...] = ()
    """Folders of the repository that are read."""

    @property
    def modules(self) -> tuple[str, ...]:
        """The top-level modules that are read."""
        return self.module or ((self.part_of or self.package).replace("-", "_"),)

    def wants(self, path: str) -> bool:
        """Whether a file of a release (its path in the archive) is read."""
        if self.part_of:
            return True
        folders = path.split("/")
        inside = folders[0] in self.modules or path.removesuffix(".py") in self.modules
        return path.endswith(".py") and inside and not any(fnmatchcase(path, pattern) for pattern in self.skip)


@dataclass(config=ConfigDict(extra="forbid"))
class _Plan:
    skip: Annotated[tuple[str, ...], BeforeValidator(tuple)]
    packages: list[Package] = Field(min_length=1)
    compiled: list[Package] = Field(default_factory=list)


def packages(path: Path = PLAN) -> dict[str, Package]:
    """The packages of the plan in its order, then its compiled parts. Raises `UsageError` where the file has another form."""
    try:
        plan = TypeAdapter(_Plan).validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError) as error:
        raise UsageError(f"{path}: not a plan of the index (see the comment at its top): {error}") from error
    python = [replace(item, skip=(*item.skip, *plan.skip)) for item in plan.packages]
    return {item.package: item for item in (*python, *plan.compiled)}


def chosen(available: Iterable[str], first: str, *, thin: bool = False) -> list[str]:
    """The releases to read, oldest first: final ones from ``first`` on.

    Of a package with more than `MANY_RELEASES` of them, the first and the last patch of each minor release. ``thin``
    takes the last patch of each minor release of any package.
    """
    groups: dict[tuple[int, ...], list[Version]] = {}
    for text in available:
        try:
            version = Version(text)
        except InvalidVersion:
            continue
        if not version.is_prerelease and version >= Version(first):
            groups.setdefault(version.release[: 3 if version.release[:2] == (0, 0) else 2], []).append(version)
    few = sum(map(len, groups.values())) <= MANY_RELEASES
    found: list[Version] = []
    for _, group in sorted(groups.items()):
        group.sort()
        found += group[-1:] if thin else group if few else [group[0], *group[1:][-1:]]
    return [str(version) for version in found]


def spread(releases: Sequence[str]) -> list[str]:
    """The releases in the order in which they are read: the newest, the oldest, then always the middle of the widest
    gap, so that whatever was read when a run stops is spread evenly over the years."""
    if len(releases) < 2:
        return list(releases)
    order = [len(releases) - 1, 0]
    gaps = [(0, len(releases) - 1)]
    while gaps:
        low, high = gaps.pop(0)
        if high - low > 1:
            middle = (low + high + 1) // 2
            order.append(middle)
            gaps += [(middle, high), (low, middle)]
    return [releases[place] for place in order]
