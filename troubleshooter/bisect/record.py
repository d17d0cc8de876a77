"""Writes the range that a bisection found into its entry."""

from __future__ import annotations

import re
from pathlib import Path

from troubleshooter.bisect.bisector import Finding

__all__ = ["range_of", "write"]

_VERSIONS = re.compile(r"^versions:.*\n(?:[ ].*\n)*", re.MULTILINE)
_TITLE = re.compile(r"^(title:.*\n(?:[ ].*\n)*)", re.MULTILINE)


def range_of(found: Finding) -> str:
    """The releases that fail, as an entry states them; "" where an end is not exact."""
    if found.verdict != "found" or found.untold or found.untold_repair:
        return ""
    parts = [f">={found.first_bad}"] if found.first_bad else []
    parts += [f"<{found.first_repaired}"] if found.first_repaired else []
    return ",".join(parts)


def write(folder: Path, found: Finding) -> str:
    """Set the package's range under ``versions`` of the entry in this folder; a sentence that says what was done."""
    import yaml

    path = folder / "entry.yaml"
    range_ = range_of(found)
    if not range_:
        return f"{path}: nothing written, because the range is not exact"
    text = path.read_text(encoding="utf-8")
    versions = {**(yaml.safe_load(text).get("versions") or {}), found.package: range_}
    line = "versions: {" + ", ".join(f'{name}: "{one}"' for name, one in versions.items()) + "}\n"
    kept = _VERSIONS.sub("", text)
    path.write_text(_TITLE.sub(lambda title: title[1] + line, kept, count=1), encoding="utf-8")
    return f"{path}: {line.strip()}"
