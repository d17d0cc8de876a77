"""What a fix that only installs packages asks for, by package: ``pip install -U "transformers>=4.50"`` → ``>=4.50``.

A report compares it with the versions that the log shows: an installed release that lies in the range makes the fix useless.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from kb import versions
from kb.form import EntryFix
from kb.placeholders import HOLE

_PIP = re.compile(r"(?:!|%)?(?:(?:python3? -m |uv )?pip3? install|uv add)\s")
_HARMLESS = {"-U", "--upgrade", "-q", "--quiet", "--user", "--no-deps", "--no-build-isolation", "-Uq", "-qU", "--pre"}
"""Options of ``pip install`` that leave an installed release alone where it meets the requirement. Others (``--force-reinstall``,
``--index-url``) may bring another build of the same release."""
_UPGRADE = {"-U", "--upgrade", "-Uq", "-qU"}
_MARK = "9999.{}"
"""A release that stands for a placeholder while a requirement is parsed."""


def required_releases(fix: EntryFix, affected: Mapping[str, str]) -> dict[str, str] | None:
    """By package, a range of releases. If every installed release lies in its range, the fix is useless.

    None for a fix that does more than install (it has code, or another command), or that names no range for one of its packages.
    ``affected``: the versions that the entry is about. They show whether an exact pin goes up or down, and which release
    ``pip install -U X`` must reach. Ranges may contain placeholders.
    """
    if fix.code is not None or fix.shell is None:
        return None
    found: dict[str, str] = {}
    holes: list[str] = []

    def hold(hole: re.Match[str]) -> str:
        holes.append(hole[0])
        return _MARK.format(len(holes) - 1)

    for line in HOLE.sub(hold, fix.shell).splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            return None
        if not words:
            continue
        if _PIP.match(" ".join([*words, ""])) is None or any(word.strip("|&;<>") == "" for word in words):
            return None
        for package, range_ in _asked(words[words.index("install" if "install" in words else "add") + 1 :], affected):
            if not range_:
                return None
            found[package] = range_
    for number, hole in enumerate(holes):
        found = {package: range_.replace(_MARK.format(number), hole) for package, range_ in found.items()}
    return found or None


def _asked(words: list[str], affected: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each package of a ``pip install`` with its range; "" where no release can be said to be enough."""
    upgrade = not _UPGRADE.isdisjoint(words)
    for word in words:
        if word in _HARMLESS:
            continue
        try:
            requirement = Requirement(word)
        except InvalidRequirement:  # another option, a path, a wheel
            yield word, ""
            continue
        package, range_ = canonicalize_name(requirement.name), str(requirement.specifier)
        if requirement.url or requirement.marker or "+" in range_ or package.startswith("9999"):
            yield package, ""
        else:
            yield package, _enough(range_, affected.get(requirement.name) or affected.get(package), upgrade)


def _enough(range_: str, affected: str | None, upgrade: bool) -> str:
    """The installed releases that the requirement does not change for the better."""
    if not range_:
        return (_behind(affected) if affected and upgrade else None) or ""
    parts = range_.split(",")
    pinned = parts[0].removeprefix("==")
    if len(parts) > 1 or not parts[0].startswith("==") or pinned.endswith(".*"):
        return range_
    if upgrade or (affected and (behind := _behind(affected)) and versions.contains(behind, pinned)):
        return f">={pinned}"
    if affected and (before := _before(affected)) and versions.contains(before, pinned):
        return f"<={pinned}"
    return range_


def _behind(affected: str) -> str | None:
    """The releases newer than all of an affected range; None if the range has no upper end."""
    ends = [part for part in affected.split(",") if part.startswith("<")]
    return (f">{ends[0][2:]}" if ends[0].startswith("<=") else f">={ends[0][1:]}") if len(ends) == 1 else None


def _before(affected: str) -> str | None:
    """The releases older than all of an affected range; None if the range has no lower end."""
    ends = [part for part in affected.split(",") if part.startswith(">")]
    return (f"<{ends[0][2:]}" if ends[0].startswith(">=") else f"<={ends[0][1:]}") if len(ends) == 1 else None
