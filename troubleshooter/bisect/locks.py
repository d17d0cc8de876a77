"""Two lists of pinned packages (lock files, or what ``pip freeze`` prints), and what changed between them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from kb.errors import UsageError
from troubleshooter.verify.overlays import canonical

__all__ = ["differences", "pins"]

_PIN: Final = re.compile(r"\s{0,20}([A-Za-z0-9][\w.-]{0,100})(?:\[[^\]]{0,200}\])?\s{0,20}==\s{0,20}([\w.+!-]{1,60})")
_TOML: Final = re.compile(r'name = "([\w.-]{1,100})"\s{0,20}\n\s{0,20}version = "([\w.+!-]{1,60})"')
"""How uv's and poetry's lock files name a package."""


def pins(path: Path) -> dict[str, str]:
    """The version of each package that a file pins. Raises UsageError where it pins none."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise UsageError(f"{path}: {problem.strerror}; give a lock file or what `pip freeze` printed") from problem
    found = {canonical(name): version for name, version in _TOML.findall(text)}
    for line in text.splitlines():
        if match := _PIN.match(line):
            found[canonical(match[1])] = match[2]
    if not found:
        raise UsageError(f"{path}: no line such as `package==1.2.3`; give a lock file or what `pip freeze` printed")
    return found


def differences(before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str, str]]:
    """The packages that both pin, to different versions: name, before, after."""
    return [
        (name, before[name], after[name]) for name in sorted(before) if name in after and before[name] != after[name]
    ]
