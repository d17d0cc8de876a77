"""``docs/platforms.md``: for which platforms and Pythons each dependency has a wheel, from ``docs/platforms.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FIRST, LAST = "<!-- wheels -->\n", "<!-- end -->"


def platforms() -> str:
    """The page with its table made anew from what `tools/wheels.py` found."""
    rows = table(json.loads((HERE / "platforms.json").read_text(encoding="utf-8")))
    before, _, rest = (HERE / "platforms.md").read_text(encoding="utf-8").partition(FIRST)
    return before + FIRST + "\n".join(rows) + "\n" + LAST + rest.partition(LAST)[2]


def table(found: dict[str, Any]) -> list[str]:
    """One row a package, one column a platform."""
    names, pythons = found["platforms"], found["pythons"]
    rows = [
        f"Asked on {found['asked']}:",
        "",
        "| package | | " + " | ".join(names) + " |",
        "| --- | --- |" + " --- |" * len(names),
    ]
    for package, by_platform in found["wheels"].items():
        kinds = {kind for wheels in by_platform.values() for kind in wheels.values()} - {"none"}
        cells = [_cell(by_platform[name], pythons) for name in names]
        rows.append(f"| {package} | {', '.join(sorted(kinds))} | " + " | ".join(cells) + " |")
    return rows


def _cell(wheels: dict[str, str], pythons: list[str]) -> str:
    """Such as "all", "3.10" (no other Python needs it), "all but 3.14" or "not needed"."""
    if not wheels:
        return "not needed"
    missing = [python for python in pythons if wheels.get(python) == "none"]
    if missing:
        return "none" if len(missing) == len(wheels) else "all but " + ", ".join(missing)
    if len(wheels) == len(pythons):
        return "all"
    return ", ".join(wheels) if len(wheels) == 1 else f"{next(iter(wheels))} to {list(wheels)[-1]}"
