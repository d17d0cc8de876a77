"""What verifying reads of an entry: its probe, its version ranges and its fixes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from kb import versions
from troubleshooter.verify.environment import Environment

__all__ = ["EntryLike", "FixLike", "Standing", "asked_probe", "asks_the_log", "ranges", "standing"]

Standing = Literal["inside", "outside", "missing", "no-range"]


class FixLike(Protocol):
    """What verifying reads of an entry's fix."""

    @property
    def do(self) -> str: ...
    @property
    def code(self) -> str | None: ...
    @property
    def shell(self) -> str | None: ...


class EntryLike(Protocol):
    """What verifying reads of an entry. ``probe`` holds a name and its ``with`` values, or is ``None``."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def versions(self) -> Mapping[str, str]: ...
    @property
    def fixes(self) -> Sequence[Any]: ...
    @property
    def probe(self) -> Any: ...


def asked_probe(entry: EntryLike) -> tuple[str, Mapping[str, Any]] | None:
    """The name of an entry's probe and its ``with`` values; ``None`` without a probe.

    Left out are values with a placeholder (``<<name>>``) that no log has filled in.
    """
    named = _named(entry)
    return None if named is None else (named[0], {k: v for k, v in named[1].items() if not _hole(v)})


def asks_the_log(entry: EntryLike) -> bool:
    """Whether some of the probe's ``with`` values come from a log, so that each log asks a question of its own."""
    named = _named(entry)
    return named is not None and any(_hole(value) for value in named[1].values())


def _hole(value: object) -> bool:
    return isinstance(value, str) and "<<" in value


def _named(entry: EntryLike) -> tuple[str, Mapping[str, Any]] | None:
    probe = entry.probe
    if probe is None:
        return None
    if isinstance(probe, (tuple, list)):
        return str(probe[0]), probe[1] or {}
    if isinstance(probe, Mapping):
        return str(probe["name"]), probe.get("with") or {}
    return str(probe.name), getattr(probe, "with_", None) or {}


def ranges(entry: EntryLike) -> str:
    """An entry's version ranges in one line."""
    return ", ".join(f"{package} {range_}" for package, range_ in entry.versions.items())


def standing(entry: EntryLike, environment: Environment) -> tuple[Standing, str]:
    """Whether the installed versions are in the entry's ranges, and the packages that decided it.

    An environment is affected only if the ranges of all packages hold.
    """
    missing = []
    for package, range_ in entry.versions.items():
        installed = environment.versions.get(package)
        if installed is None:
            missing.append(package)
            continue
        try:
            if not versions.contains(range_, installed):
                return "outside", package
        except ValueError:  # "main" or a commit hash: the version is not known
            missing.append(package)
    if missing:
        return "missing", ", ".join(missing)
    return ("inside", "") if entry.versions else ("no-range", "")
